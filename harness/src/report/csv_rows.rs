//! [`csv`]: figures of a report as CSV, from its rows as JSON.

use serde_json::Value;

/// The figures of some rows as CSV, unrounded, one line for each. Members of members have both names with an underscore between them, and members of
/// a list their number; the ends of an interval are told as `low` and `high`. A cell is empty where its row lacks the figure.
pub fn csv<'a>(rows: impl IntoIterator<Item = &'a Value>) -> String {
    let flat: Vec<Vec<(String, String)>> = rows.into_iter().map(cells).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in flat.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    // All lines have the same number of cells and are written to memory: this cannot fail.
    let _ = writer.write_record(&names);
    for row in &flat {
        let cell = |name: &&str| row.iter().find(|(own, _)| own == name).map_or("", |(_, cell)| cell);
        let _ = writer.write_record(names.iter().map(cell));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The name and text of each figure within a row.
fn cells(row: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left = vec![(String::new(), row)];
    while let Some((name, value)) = left.pop() {
        let inner = |part: &str| match name.is_empty() {
            true => part.to_owned(),
            false => format!("{name}_{part}"),
        };
        match value {
            Value::Object(members) => left.extend(members.iter().rev().map(|(part, value)| (inner(part), value))),
            Value::Array(ends) if ends.len() == 2 && (name.ends_with("_ci") || name.ends_with("interval")) => {
                let name = name.trim_end_matches("_ci");
                left.extend([(format!("{name}_high"), &ends[1]), (format!("{name}_low"), &ends[0])]);
            }
            Value::Array(items) => {
                let items = items.iter().enumerate().rev();
                left.extend(items.map(|(at, value)| (inner(&(at + 1).to_string()), value)));
            }
            Value::Null => {}
            Value::String(text) => found.push((name, text.clone())),
            Value::Bool(_) | Value::Number(_) => found.push((name, value.to_string())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_have_a_cell_for_each_figure_of_any() {
        let rows = [
            json!({"name": "a, b", "rate": 0.1, "rate_ci": [0.0, 0.25], "of": {"valid": 3, "sizes": [1, 2]}}),
            json!({"name": "c", "rate": null, "rate_ci": null, "of": {"valid": 0}, "is_last": true}),
        ];
        let text = csv(&rows);
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                "name,rate,rate_low,rate_high,of_valid,of_sizes_1,of_sizes_2,is_last",
                "\"a, b\",0.1,0.0,0.25,3,1,2,",
                "c,,,,0,,,true",
            ]
        );
    }
}
