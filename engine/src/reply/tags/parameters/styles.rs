//! [`ParameterStyle`]: the marks with which families of models write the parameters of a call.

/// The notation in which parameters are written.
#[derive(Debug)]
pub(in crate::reply::tags) struct ParameterStyle {
    /// The name that structural tags give it.
    pub(in crate::reply::tags) name: &'static str,
    /// The text before a parameter's name.
    pub(super) open: &'static str,
    /// The notations of the value behind the name.
    pub(super) ways: &'static [Way],
    /// Texts that no name has in it.
    pub(super) never_in_names: &'static [&'static str],
    /// Texts that no value has in it, raw string or JSON, because parsers take it to end there.
    pub(super) never_in_values: &'static [&'static str],
}

/// A notation of a value.
#[derive(Debug)]
pub(super) struct Way {
    /// The text between the name and the value.
    pub(super) before: &'static str,
    /// The text behind the value.
    pub(super) after: &'static str,
    /// The values that are written so.
    pub(super) values: WrittenValues,
    /// Whether parsers take a line break at either end of the value for one around it, so that a string has none there.
    pub(super) loses_line_breaks: bool,
}

/// The values that a [`Way`] can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenValues {
    /// Strings as they are, and other values as JSON.
    All,
    /// Strings as they are.
    Strings,
    /// Values but strings, as JSON.
    Others,
}

const fn way(before: &'static str, after: &'static str, values: WrittenValues) -> Way {
    Way {
        before,
        after,
        values,
        loses_line_breaks: false,
    }
}

/// All styles but that of JSON.
static STYLES: [ParameterStyle; 5] = [
    ParameterStyle {
        name: "qwen_xml",
        open: "<parameter=",
        ways: &[
            way(">\n", "\n</parameter>", WrittenValues::All),
            Way {
                loses_line_breaks: true,
                ..way(">", "</parameter>", WrittenValues::All)
            },
        ],
        never_in_names: &[">"],
        never_in_values: &["</parameter>", "<parameter=", "</function>", "</tool_call>"],
    },
    ParameterStyle {
        name: "minimax_xml",
        open: "<parameter name=\"",
        ways: &[way("\">", "</parameter>", WrittenValues::All)],
        never_in_names: &["\""],
        never_in_values: &["</parameter>", "</invoke>", "</minimax:tool_call>"],
    },
    ParameterStyle {
        name: "glm_xml",
        open: "<arg_key>",
        ways: &[
            way("</arg_key>\n<arg_value>", "</arg_value>", WrittenValues::All),
            way("</arg_key><arg_value>", "</arg_value>", WrittenValues::All),
        ],
        never_in_names: &["<"],
        never_in_values: &["</arg_value>", "</tool_call>"],
    },
    ParameterStyle {
        name: "deepseek_xml",
        open: "<｜DSML｜parameter name=\"",
        ways: &[
            way("\" string=\"true\">", "</｜DSML｜parameter>", WrittenValues::Strings),
            way("\" string=\"false\">", "</｜DSML｜parameter>", WrittenValues::Others),
        ],
        never_in_names: &["\""],
        never_in_values: &["</｜DSML｜parameter>", "</｜DSML｜invoke>", "</｜DSML｜function_calls>"],
    },
    ParameterStyle {
        name: "deepseek_v4_1_xml",
        open: "<｜DSML｜ parameter name=\"",
        ways: &[
            way("\" string=\"true\">", "</｜DSML｜ parameter>", WrittenValues::Strings),
            way("\" string=\"false\">", "</｜DSML｜ parameter>", WrittenValues::Others),
        ],
        never_in_names: &["\""],
        never_in_values: &["</｜DSML｜ parameter>"],
    },
];

/// The style of a name.
pub(in crate::reply::tags) fn of_name(name: &str) -> Option<&'static ParameterStyle> {
    STYLES.iter().find(|style| style.name == name)
}
