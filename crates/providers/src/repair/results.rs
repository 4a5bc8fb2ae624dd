//! Moves each result directly after its call, and inserts a result for each call that has none.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::INTERRUPTED;
use super::draft::Draft;
use crate::format::{ProviderFormat, ResultPlacement};
use crate::part::Role;
use crate::rules::calls::is_refused_repeat;
use crate::rules::turn::{Turn, pairing};
use peteos_conversation::{CallState, Pairing, Place, ResultState};

/// The changes to a conversation, by place.
#[derive(Default)]
struct Plan {
    /// Results that are removed from their place.
    removed: HashSet<Place>,
    /// Calls and results that get a new id.
    renamed: HashMap<Place, String>,
    /// For each message with calls, the results that are inserted after it.
    inserted: HashMap<usize, Vec<Source>>,
}

/// The source of an inserted result.
enum Source {
    Moved(Place),
    Missing { call_id: String },
}

/// A conversation in which each call has its result where the format requires it, and there are no other results.
pub fn pair(drafts: Vec<Draft>, format: &dyn ProviderFormat) -> Vec<Draft> {
    let plan = plan(&drafts, format);
    let mut inserted: HashMap<usize, Vec<Value>> = HashMap::new();
    for (&index, sources) in &plan.inserted {
        let parts = sources.iter().filter_map(|source| match source {
            Source::Moved(place) => {
                let part = drafts.get(place.0)?.parts.get(place.1)?;
                Some(with_call_id(part, plan.renamed.get(place)))
            }
            Source::Missing { call_id } => Some(json!({
                "type": "tool_result",
                "call_id": call_id,
                "content": INTERRUPTED,
                "execution_status": "aborted",
                "is_error": true,
            })),
        });
        inserted.insert(index, parts.collect());
    }
    let mut paired = Vec::with_capacity(drafts.len());
    for (index, mut draft) in drafts.into_iter().enumerate() {
        let places = (0..draft.parts.len()).map(|part| (index, part));
        if places.clone().any(|place| plan.removed.contains(&place) || plan.renamed.contains_key(&place)) {
            let kept = places.zip(&draft.parts).filter(|(place, _)| !plan.removed.contains(place));
            let parts = kept.map(|(place, part)| with_call_id(part, plan.renamed.get(&place))).collect();
            draft.set_parts(parts);
        }
        paired.push(draft);
        if let Some(parts) = inserted.remove(&index).filter(|parts| !parts.is_empty()) {
            let first = parts.first().and_then(|part| part["call_id"].as_str()).unwrap_or_default();
            let id = format!("repair-result-{first}");
            paired.push(Draft::inserted("tool_result", &id, parts));
        }
    }
    paired
}

fn with_call_id(part: &Value, call_id: Option<&String>) -> Value {
    let mut part = part.clone();
    if let (Value::Object(fields), Some(call_id)) = (&mut part, call_id) {
        fields.insert("call_id".to_owned(), call_id.as_str().into());
    }
    part
}

fn plan(drafts: &[Draft], format: &dyn ProviderFormat) -> Plan {
    let turns: Vec<Turn<'_>> = drafts.iter().map(|draft| draft.turn(format)).collect();
    let pairing = pairing(&turns);
    let mut plan = Plan::default();
    // The results of each turn, by the turn of their calls.
    let mut answers: HashMap<usize, Vec<(Place, usize)>> = HashMap::new();
    for result in &pairing.results {
        match result.state {
            ResultState::Answers(call) => {
                let call = pairing.calls[call].place.0;
                answers.entry(result.place.0).or_default().push((result.place, call));
            }
            ResultState::Second(_) | ResultState::Orphan => {
                plan.removed.insert(result.place);
            }
        }
    }
    let in_place = in_place(&turns, &answers, format);
    let names = names(&pairing, format);
    for (call, call_id) in pairing.calls.iter().zip(names) {
        let source = match call.state {
            CallState::Answered(result) if in_place.contains(&result) => None,
            CallState::Answered(result) => {
                plan.removed.insert(result);
                Some(Source::Moved(result))
            }
            CallState::Pending | CallState::Unanswered => Some(Source::Missing { call_id: call_id.clone() }),
        };
        if let Some(source) = source {
            plan.inserted.entry(call.place.0).or_default().push(source);
        }
        if call_id != call.call_id {
            if let CallState::Answered(result) = call.state {
                plan.renamed.insert(result, call_id.clone());
            }
            plan.renamed.insert(call.place, call_id);
        }
    }
    plan
}

/// The results that are already where the format requires them once all others are removed.
fn in_place(
    turns: &[Turn<'_>],
    answers: &HashMap<usize, Vec<(Place, usize)>>,
    format: &dyn ProviderFormat,
) -> HashSet<Place> {
    let placement = format.requirements().results;
    let mut kept = HashSet::new();
    let mut open = None;
    for (index, turn) in turns.iter().enumerate() {
        let answers = answers.get(&index).map_or(&[][..], Vec::as_slice);
        if placement == ResultPlacement::AfterCall {
            if turn.may_have_results() {
                kept.extend(answers.iter().map(|(place, _)| *place));
            }
            continue;
        }
        if turn.is_silent {
            continue;
        }
        if !turn.may_have_results() {
            open = (turn.role == Role::Assistant).then_some(index);
            continue;
        }
        let before = kept.len();
        kept.extend(answers.iter().filter(|(_, call)| Some(*call) == open).map(|(place, _)| *place));
        let stays = kept.len() > before;
        // A turn that becomes empty does not separate a call from its result.
        if turn.has_rest(format) && (!stays || placement == ResultPlacement::NextMessages) {
            open = None;
        }
    }
    kept
}

/// The id of each call: its own, or a similar one if the format refuses that.
fn names(pairing: &Pairing<'_>, format: &dyn ProviderFormat) -> Vec<String> {
    let ids = format.requirements().call_ids;
    let longest = ids.map_or(usize::MAX, |ids| ids.longest);
    let mut taken: HashSet<String> = pairing.calls.iter().map(|call| call.call_id.to_owned()).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    let mut name = |call_id: &str, is_refused: bool| {
        let valid = match ids.filter(|ids| !ids.is(call_id)) {
            Some(ids) => ids.repair(call_id, "call"),
            None => call_id.to_owned(),
        };
        if !is_refused && (valid == call_id || !taken.contains(&valid)) {
            taken.insert(valid.clone());
            return valid;
        }
        let count = next.entry(valid.clone()).or_insert(2);
        loop {
            let end = format!("-{count}");
            *count += 1;
            let mut candidate: String = valid.chars().take(longest.saturating_sub(end.len())).collect();
            candidate.push_str(&end);
            if taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    };
    pairing.calls.iter().map(|call| name(call.call_id, is_refused_repeat(call.repeats, format))).collect()
}
