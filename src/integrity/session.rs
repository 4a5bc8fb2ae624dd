//! The rules for `session.json`.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::context::Age;
use super::directory::Directory;
use super::finding::{Report, Rule};
use super::text::{self, Damage};
use crate::json::{FieldPath, Object, Truncated, locate};
use crate::session::{dict_keys as keys, shape_faults};

/// Reports the findings of `session.json`; returns its fixed contents if it can be loaded. `text` is `None` if there is no
/// such file.
pub(super) fn examine(directory: &Directory, ages: &[Age], text: Option<&[u8]>, report: &mut Report) -> Option<Object> {
    let newest = newest(ages);
    let Some(text) = text else {
        let message = "there are contexts, but no session.json that names the active one";
        return rebuild(directory, newest, Rule::MissingSessionFile, (), message, None, report);
    };
    let (value, anomalies) = match text::read(text) {
        Ok(read) => read,
        Err(damage) => {
            let Damage { rule, position, message, truncated } = *damage;
            // A text that can be fixed by hand has more than its replacement would have.
            if matches!(rule, Rule::NotJson | Rule::NonFiniteNumber) {
                report.add(rule, position, message);
                return None;
            }
            return rebuild(directory, newest, rule, position, &message, truncated, report);
        }
    };
    let root = FieldPath::root();
    let Value::Object(mut dict) = value else {
        let position = locate(text, &root);
        report.add(Rule::WrongShape, position, "expected an object, the dict of a session; fix the file by hand");
        return None;
    };
    text::report_anomalies(anomalies, report);
    let uuid = directory.layout.id().as_str();
    if let Some(found) = dict.get(keys::UUID).and_then(Value::as_str).filter(|found| *found != uuid) {
        let at = root.key(keys::UUID);
        let position = locate(text, &at);
        report.add_repairable(
            Rule::UuidMismatch,
            (at, position),
            format!("expected '{uuid}', the name of the session's directory, found {found:?}"),
            format!("set the uuid {found:?} to '{uuid}', the name of the directory"),
        );
        dict.insert(keys::UUID.to_owned(), uuid.into());
    }
    let faults = shape_faults(&dict, &directory.layout);
    if !faults.is_empty() {
        for fault in faults {
            let position = locate(text, &fault.field);
            report.add(Rule::WrongShape, (fault.field, position), format!("{}; fix it by hand", fault.message));
        }
        report.block_repair();
        return None;
    }
    check_active(directory, newest, &mut dict, report);
    Some(dict)
}

fn check_active(directory: &Directory, newest: Option<&Age>, dict: &mut Object, report: &mut Report) {
    let active = dict.get(keys::ACTIVE_CONTEXT_ID).and_then(Value::as_str).filter(|id| !id.is_empty());
    let Some(id) = active.filter(|id| !directory.has_context(id)).map(str::to_owned) else { return };
    let at = FieldPath::root().key(keys::ACTIVE_CONTEXT_ID);
    let message = format!("the active context '{id}' has no file");
    match newest {
        Some(Age { id: newest, .. }) => {
            let repair = format!("made '{newest}', the newest context, the active one; '{id}' has no file");
            report.add_repairable(Rule::DanglingActiveContext, at, message, repair);
            dict.insert(keys::ACTIVE_CONTEXT_ID.to_owned(), newest.as_str().into());
        }
        None => report.add(Rule::DanglingActiveContext, at, format!("{message}, and no other context can be read")),
    }
}

/// Rebuilds `session.json` from the contexts and the remains of the old one.
fn rebuild(
    directory: &Directory,
    newest: Option<&Age>,
    rule: Rule,
    place: impl Into<super::finding::Place>,
    message: &str,
    truncated: Option<Truncated>,
    report: &mut Report,
) -> Option<Object> {
    let Truncated { mut fields, unfinished, is_whole } =
        truncated.unwrap_or(Truncated { fields: Object::new(), unfinished: None, is_whole: false });
    // A partial value of any other field would have another meaning.
    let may_be_partial = [keys::AUTO_APPROVE_TOOLS, keys::STATE_DATA];
    if let Some(field) = unfinished.filter(|field| !may_be_partial.contains(&field.as_str())) {
        fields.shift_remove(&field);
    }
    let (Some(newest), true) = (newest, shape_faults(&fields, &directory.layout).is_empty()) else {
        report.add(rule, place, format!("{message}; restore the file from a backup"));
        return None;
    };
    let kept: Vec<String> = fields.keys().cloned().collect();
    let kept = if kept.is_empty() {
        "no field of the old one was complete".to_owned()
    } else {
        "kept ".to_owned() + &kept.join(", ")
    };
    let repair = match is_whole {
        true => "removed the NUL bytes".to_owned(),
        false => format!("rebuilt from the contexts: the newest, '{}', is active if none was named; {kept}", newest.id),
    };
    report.add_repairable(rule, place, message, repair);
    let defaults = json!({
        keys::UUID: directory.layout.id().as_str(),
        keys::ACTIVE_CONTEXT_ID: newest.id.as_str(),
        keys::AUTO_APPROVE_TOOLS: [],
        keys::STATE_DATA: {},
        keys::IS_ACTIVE: false,
    });
    if let Value::Object(defaults) = defaults {
        for (key, value) in defaults {
            fields.entry(key).or_insert(value);
        }
    }
    check_active(directory, Some(newest), &mut fields, &mut Report::new(String::new()));
    Some(fields)
}

/// The most recently used context: the one with the newest message or, among several, the one with the most ancestors,
/// because a window is newer than the context from which it was cut.
fn newest(ages: &[Age]) -> Option<&Age> {
    let origins: HashMap<&str, &str> =
        ages.iter().filter_map(|age| Some((age.id.as_str(), age.origin.as_deref()?))).collect();
    let generation = |age: &Age| {
        let mut seen = HashSet::new();
        let mut id = age.id.as_str();
        while let Some(origin) = origins.get(id).filter(|_| seen.insert(id)) {
            id = origin;
        }
        seen.len()
    };
    let latest = ages.iter().map(|age| age.latest.as_str()).max()?;
    let candidates = ages.iter().filter(|age| age.latest == latest);
    candidates.max_by_key(|age| (generation(age), age.id.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ContextId;

    #[test]
    fn the_newest_context() {
        let age = |id: &str, latest: &str, origin: Option<&str>| Age {
            id: ContextId::parse(id).unwrap(),
            latest: latest.to_owned(),
            origin: origin.map(str::to_owned),
        };
        assert!(newest(&[]).is_none());
        let ages =
            [age("z", "1", None), age("b", "2", Some("a")), age("a", "2", Some("gone")), age("c", "2", Some("c"))];
        assert_eq!(newest(&ages).unwrap().id.as_str(), "b");
    }
}
