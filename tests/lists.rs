//! Each list of names is written once, in Rust: the TypeScript types are generated from it, and the tables of the
//! documentation are compared with it.
//!
//! `UPDATE_LISTS=1 cargo test --test lists` writes `js/generated/lists.ts`.
#![cfg(not(target_arch = "wasm32"))]

use std::fmt::Write;
use std::path::Path;

use peteos_providers::ProviderFormat;
use peteos_providers::formats::{FORMATS, checkable};
use peteos_providers::rules;
use peteos_session::conversation::PartTokens;
use peteos_session::error::ErrorKind;
use peteos_session::integrity;
use peteos_session::room::StepKind;
use peteos_session::tokens::Encoding;
use peteos_session::window::{Boundary, Reason, WindowProblem};

const GENERATED: &str = "js/generated/lists.ts";

/// A union type: its name, its documentation, and its members with theirs.
struct Union {
    name: &'static str,
    doc: &'static str,
    members: Vec<(String, Option<String>)>,
}

fn union(name: &'static str, doc: &'static str, members: impl IntoIterator<Item = impl Into<String>>) -> Union {
    Union { name, doc, members: members.into_iter().map(|name| (name.into(), None)).collect() }
}

fn documented(name: &'static str, doc: &'static str, members: impl Iterator<Item = (&'static str, String)>) -> Union {
    Union { name, doc, members: members.map(|(name, doc)| (name.to_owned(), Some(doc))).collect() }
}

fn unions() -> Vec<Union> {
    let severities = [integrity::Severity::Error, integrity::Severity::Warning, integrity::Severity::Info];
    vec![
        union(
            "EncodingName",
            "The encodings of tiktoken. `gpt2` is another name of `r50k_base`.",
            Encoding::known_names(),
        ),
        documented(
            "FindingRule",
            "What `Session.check` looks for. The names are stable. `docs/damage.md` describes each.",
            integrity::Rule::ALL.iter().map(|rule| (rule.name(), rule.summary())),
        ),
        documented(
            "ErrorClass",
            "The classes of the errors that Rust creates.",
            ErrorKind::ALL.iter().map(|kind| (kind.name(), kind.summary())),
        ),
        union("Severity", "How severe a finding is.", severities.map(integrity::Severity::name)),
        documented(
            "Boundary",
            "What a window must not split. The default is `'message'`.",
            Boundary::ALL.iter().map(|boundary| (boundary.name(), boundary.summary())),
        ),
        union("PartKind", "The kinds of parts, as tokens are summed up by them.", keys(&PartTokens::default())),
        documented(
            "StepKind",
            "What a step does to make room. The names are stable. `docs/making-room.md` describes each.",
            StepKind::ALL.iter().map(|kind| (kind.name(), kind.summary())),
        ),
        documented(
            "WindowReason",
            "Why a window keeps or drops a message. The names are stable.",
            Reason::ALL.iter().map(|reason| (reason.name(), reason.summary())),
        ),
        documented(
            "WindowProblem",
            "What is wrong with a tool call or a tool result in a window report. The names are stable.",
            WindowProblem::ALL.iter().map(|problem| (problem.name(), problem.summary())),
        ),
        union(
            "ProviderName",
            "The formats that a conversation can be converted to and from.",
            FORMATS.map(ProviderFormat::name),
        ),
        union("Provider", "A provider whose rules `check` knows.", checkable().map(ProviderFormat::name)),
        documented(
            "ProviderRule",
            "What `check` looks for. The names are stable. `docs/provider-rules.md` says which provider has which rule.",
            rules::Rule::ALL.iter().map(|rule| (rule.name(), rule.summary())),
        ),
    ]
}

fn keys(value: &impl serde::Serialize) -> Vec<String> {
    serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
}

fn generated() -> String {
    let mut text =
        "// Generated from the lists in Rust by `UPDATE_LISTS=1 cargo test --test lists`. Do not edit.\n".to_owned();
    for Union { name, doc, members } in unions() {
        let literals: Vec<String> = members.iter().map(|(member, _)| format!("'{member}'")).collect();
        let line = format!("export type {name} = {}", literals.join(" | "));
        write!(text, "\n/** {doc} */\n").unwrap();
        // As the formatter has it.
        if members.iter().all(|(_, doc)| doc.is_none()) && line.len() <= 120 {
            writeln!(text, "{line}").unwrap();
            continue;
        }
        writeln!(text, "export type {name} =").unwrap();
        for (literal, (_, doc)) in literals.iter().zip(members) {
            if let Some(doc) = doc {
                writeln!(text, "  /** {doc} */").unwrap();
            }
            writeln!(text, "  | {literal}").unwrap();
        }
    }
    text
}

fn path(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

#[test]
fn the_typescript_types_are_up_to_date() {
    if std::env::var_os("UPDATE_LISTS").is_some() {
        std::fs::create_dir_all(path(GENERATED).parent().unwrap()).unwrap();
        std::fs::write(path(GENERATED), generated()).unwrap();
    }
    let found = std::fs::read_to_string(path(GENERATED)).unwrap_or_default();
    assert!(found == generated(), "{GENERATED} is out of date; run `UPDATE_LISTS=1 cargo test --test lists`");
}

/// The rows of a table of the documentation that begin with a name in code, each with its cells.
fn rows(file: &str, heading: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = lines.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "{file} has no table that begins with {heading}");
    rows
}

fn in_code(name: &str) -> String {
    format!("`{name}`")
}

#[test]
fn the_table_of_provider_rules_has_each_rule_for_the_formats_that_have_it() {
    let expected: Vec<(String, Vec<bool>)> = rules::Rule::ALL
        .iter()
        .map(|rule| (in_code(rule.name()), checkable().map(|format| rule.holds_for(format)).collect()))
        .collect();
    let found: Vec<(String, Vec<bool>)> = rows("docs/provider-rules.md", "| rule |")
        .into_iter()
        .map(|cells| (cells[0].clone(), cells[1..=checkable().count()].iter().map(|cell| cell != "–").collect()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_table_of_damage_has_each_rule_with_its_severity() {
    let expected: Vec<[String; 2]> =
        integrity::Rule::ALL.iter().map(|rule| [in_code(rule.name()), rule.severity().name().to_owned()]).collect();
    let found: Vec<[String; 2]> =
        rows("docs/damage.md", "| rule |").into_iter().map(|cells| [cells[0].clone(), cells[1].clone()]).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_table_of_errors_has_each_class() {
    let found: Vec<String> =
        rows("docs/api.md", "| class | `code` |").into_iter().map(|cells| cells[0].clone()).collect();
    for kind in ErrorKind::ALL {
        assert!(found.contains(&in_code(kind.name())), "{}", kind.name());
    }
}

#[test]
fn the_table_of_encodings_has_each_name_once() {
    let rows = rows("docs/api.md", "| encoding |");
    // The names in code of the first cells: `p50k_base`, `p50k_edit`.
    let mut found: Vec<&str> = rows.iter().flat_map(|cells| cells[0].split('`').skip(1).step_by(2)).collect();
    let mut expected = Encoding::known_names();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn the_tables_of_reasons_have_each_reason_under_what_it_does() {
    for (heading, keeps) in [("| kept because |", true), ("| dropped because |", false)] {
        let expected: Vec<String> =
            Reason::ALL.iter().filter(|reason| reason.keeps() == keeps).map(|reason| in_code(reason.name())).collect();
        let found: Vec<String> = rows("docs/windows.md", heading)
            .iter()
            .flat_map(|cells| cells[0].split(", ").map(str::to_owned).collect::<Vec<String>>())
            .collect();
        assert_eq!(found, expected, "{heading}");
    }
}
