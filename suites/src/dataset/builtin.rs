//! The sample that is part of the program: small schemas of every kind that JSONSchemaBench has.
//!
//! Each lies in `data/builtin`, with instances that are valid and invalid under it in `data/builtin/instances`.

use super::{BUILTIN, Dataset};

/// A schema of the sample, by the name of its file.
macro_rules! schema {
    ($name:literal) => {
        ($name, include_str!(concat!("../../data/builtin/", $name, ".json")))
    };
}

/// Ids and texts, in order.
const SCHEMAS: &[(&str, &str)] = &[
    schema!("01-contact"),
    schema!("02-library-loan"),
    schema!("03-weather-report"),
    schema!("04-plan-route"),
    schema!("05-send-invoice"),
    schema!("06-convert-currency"),
    schema!("07-find-recipes"),
    schema!("08-file-tree"),
    schema!("09-comment-thread"),
    schema!("10-shape"),
    schema!("11-payment"),
    schema!("12-notification-target"),
    schema!("13-employee"),
    schema!("14-environment"),
    schema!("15-translations"),
    schema!("16-palette"),
    schema!("17-waypoint"),
    schema!("18-log-line"),
    schema!("19-account-name"),
    schema!("20-delivery"),
    schema!("21-membership"),
    schema!("22-hotel-booking"),
    schema!("23-heating"),
    schema!("24-article-tags"),
    schema!("25-survey-scores"),
    schema!("26-water-sample"),
    schema!("27-price-list"),
    schema!("28-shift"),
    schema!("29-tax-payer"),
    schema!("30-stock"),
    schema!("31-packing-list"),
    schema!("32-vehicle"),
    schema!("33-ledger-entry"),
    schema!("34-host"),
    schema!("35-calendar-event"),
    schema!("36-bookmark"),
    schema!("37-form-field"),
    schema!("38-patient"),
    schema!("39-workload"),
    schema!("40-storage-claim"),
    schema!("41-video-played"),
    schema!("42-basket-changed"),
    schema!("43-lab-result"),
    schema!("44-spare-part"),
    schema!("45-readings"),
    schema!("46-ticket-priority"),
    schema!("47-manifest"),
    schema!("48-short-post"),
    schema!("49-arithmetic"),
    schema!("50-order"),
    schema!("51-feature-flags"),
    schema!("52-timetable"),
    schema!("53-news-story"),
    schema!("54-meeting-minutes"),
    schema!("55-build-pipeline"),
    schema!("56-chess-game"),
    schema!("57-measurement-batch"),
    schema!("58-settings"),
];

/// The sample as a dataset.
pub(super) fn dataset() -> Dataset {
    let texts = SCHEMAS.iter().map(|&(id, text)| (id.to_owned(), text.to_owned()));
    Dataset::from_texts(BUILTIN, texts)
}
