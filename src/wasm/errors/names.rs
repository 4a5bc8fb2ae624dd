//! The JavaScript names of the core's arguments.

/// The parameters and fields of the core that have another name in JavaScript.
const ARGUMENTS: [(&str, &str); 9] = [
    ("anchor", "anchorPoint"),
    ("boundary", "options.boundary"),
    ("ids", "options.ids"),
    ("lower_mark", "options.hysteresis.to"),
    ("parent_dir", "parentDir"),
    ("pins", "options.pin"),
    ("raw_dict", "rawDict"),
    ("reserve", "options.reserve"),
    ("until", "options.until"),
];

/// The path of an argument in JavaScript: `pins[2]` is `options.pin[2]`.
pub fn argument_path(argument: &str) -> String {
    let end = argument.find(['.', '[']).unwrap_or(argument.len());
    let (name, path) = argument.split_at(end);
    let known = ARGUMENTS.iter().find(|(core, _)| *core == name);
    format!("{}{path}", known.map_or(name, |(_, javascript)| javascript))
}
