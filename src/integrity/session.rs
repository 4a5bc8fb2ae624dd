//! The rules for `session.json`.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::context::Age;
use super::directory::Directory;
use super::finding::{Report, Rule};
use super::text::{self, Damage};
use crate::error::Error;
use crate::json::{self, FieldPath, Object, Truncated, locate};
use crate::limits::Limits;
use crate::session::{dict_keys as keys, shape_faults};

/// Reports the findings of `session.json`; returns its fixed contents if it can be loaded. `text` is `None` if there is no
/// such file.
pub(super) fn examine(
    directory: &Directory,
    ages: &[Age],
    text: Option<&[u8]>,
    limits: Limits,
    report: &mut Report,
) -> Result<Option<Object>, Error> {
    let newest = newest(ages);
    let Some(text) = text else {
        let message = "there are contexts, but no session.json that names the active one";
        return Ok(rebuild(directory, newest, Rule::MissingSessionFile, (), message, None, report));
    };
    let (value, anomalies) = match text::read(text, limits.values())? {
        Ok(read) => read,
        Err(damage) => {
            let Damage { rule, position, message, truncated } = damage;
            // A text that can be fixed by hand has more than its replacement would have.
            if matches!(rule, Rule::NotJson | Rule::NonFiniteNumber | Rule::FileTooLarge) {
                report.add(rule, position, message);
                return Ok(None);
            }
            return Ok(rebuild(directory, newest, rule, position, &message, truncated, report));
        }
    };
    json::ensure_copies(&(&value).into(), 2, "a check of a session")?;
    let root = FieldPath::root();
    let Value::Object(mut dict) = value else {
        let position = locate(text, &root);
        report.add(Rule::WrongShape, position, "expected an object, the dict of a session; fix the file by hand");
        return Ok(None);
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
        return Ok(None);
    }
    check_active(directory, newest, &mut dict, report);
    Ok(Some(dict))
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

/// The maximum time between two writes of one save, in milliseconds.
const ONE_SAVE: f64 = 2000.0;

/// The most recently used context. A context is older than a descendant with at least its sequence number. Among the rest,
/// the one written last is taken; among those written at the same time, the one with the most ancestors, because a window is
/// newer than the context from which it was cut. The times of messages are local and go backwards when daylight saving
/// time ends, so they decide only if the storage keeps no times.
fn newest(ages: &[Age]) -> Option<&Age> {
    let by_id: HashMap<&str, &Age> = ages.iter().map(|age| (age.id.as_str(), age)).collect();
    let ancestors = |age: &Age| {
        let (mut id, mut seen, mut chain) = (age.id.as_str(), HashSet::new(), Vec::new());
        while let Some(origin) = by_id.get(id).and_then(|age| age.origin.as_deref()).filter(|_| seen.insert(id)) {
            chain.push(origin);
            id = origin;
        }
        chain
    };
    let mut superseded = HashSet::new();
    for age in ages {
        let goes_as_far = |id: &&str| {
            let ancestor = by_id.get(id).filter(|ancestor| ancestor.id != age.id);
            ancestor.is_some_and(|ancestor| ancestor.sequence <= age.sequence)
        };
        superseded.extend(ancestors(age).into_iter().filter(goes_as_far));
    }
    let mut candidates: Vec<&Age> = ages.iter().filter(|age| !superseded.contains(age.id.as_str())).collect();
    if candidates.is_empty() {
        // The origins form a cycle.
        candidates = ages.iter().collect();
    }
    let has_times = candidates.iter().all(|age| age.modified.is_some());
    let time = candidates.iter().filter_map(|age| age.modified).fold(f64::MIN, f64::max);
    let latest = candidates.iter().map(|age| age.latest.as_str()).max()?;
    let is_last = |age: &&Age| match age.modified.filter(|_| has_times) {
        Some(modified) => modified >= time - ONE_SAVE,
        None => age.latest == latest,
    };
    candidates.into_iter().filter(is_last).max_by_key(|age| (ancestors(age).len(), age.sequence, age.id.clone()))
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
            children: Vec::new(),
            sequence: None,
            modified: None,
        };
        assert!(newest(&[]).is_none());
        assert!(newest(&[age("a", "1", Some("b")), age("b", "1", Some("a"))]).is_some());
        let ages =
            [age("z", "1", None), age("b", "2", Some("a")), age("a", "2", Some("gone")), age("c", "2", Some("c"))];
        assert_eq!(newest(&ages).unwrap().id.as_str(), "b");
    }

    #[test]
    fn the_newest_context_when_local_times_run_backwards() {
        let age = |id: &str, latest: &str, origin: Option<&str>, sequence: u64, modified: Option<f64>| Age {
            id: ContextId::parse(id).unwrap(),
            latest: latest.to_owned(),
            origin: origin.map(str::to_owned),
            children: Vec::new(),
            sequence: Some(sequence),
            modified,
        };
        let id = |ages: &[Age]| newest(ages).unwrap().id.to_string();
        // A window that goes on after the end of daylight saving.
        assert_eq!(id(&[age("a", "02:59", None, 5, None), age("b", "02:01", Some("a"), 9, None)]), "b");
        // Of two that have nothing in common the storage knows which was written last.
        let unrelated = [age("a", "02:59", None, 5, Some(1e6)), age("b", "02:01", None, 3, Some(2e6))];
        assert_eq!(id(&unrelated), "b");
        // The origin went on after the fork, and was written last.
        let ages = [age("a", "2", None, 9, Some(9e6)), age("b", "1", Some("a"), 5, Some(1e6))];
        assert_eq!(id(&ages), "a");
        // A save writes the origin, which names the fork, right after the fork.
        let ages = [age("a", "1", None, 9, Some(1e6 + 2.0)), age("b", "1", Some("a"), 5, Some(1e6))];
        assert_eq!(id(&ages), "b");
    }
}
