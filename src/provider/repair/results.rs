//! Puts each result directly after its call, and one in the place of each that never came.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::super::Format;
use super::super::check::Rule;
use super::super::check::calls::is_refused_repeat;
use super::super::check::turn::{Turn, has_result_messages, pairing, takes_distant_results};
use super::super::part::{LONGEST_CALL_ID, Role, is_call_id, is_word_character};
use super::INTERRUPTED;
use super::draft::Draft;
use crate::conversation::{CallState, Pairing, Place, ResultState};

/// What is done to a list, by the places in it.
#[derive(Default)]
struct Plan {
    /// Results that are taken from where they stand.
    taken: HashSet<Place>,
    /// Calls and results that get another id.
    renamed: HashMap<Place, String>,
    /// For each message with calls the results that are put after it.
    put_in: HashMap<usize, Vec<Source>>,
}

/// Where a result that is put in comes from.
enum Source {
    Moved(Place),
    Missing { call_id: String },
}

/// A list in which each call has its result where the format wants it, and there are no other results.
pub fn pair(drafts: Vec<Draft>, format: Format) -> Vec<Draft> {
    let plan = plan(&drafts, format);
    let mut put_in: HashMap<usize, Vec<Value>> = HashMap::new();
    for (&index, sources) in &plan.put_in {
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
        put_in.insert(index, parts.collect());
    }
    let mut paired = Vec::with_capacity(drafts.len());
    for (index, mut draft) in drafts.into_iter().enumerate() {
        let places = (0..draft.parts.len()).map(|part| (index, part));
        if places.clone().any(|place| plan.taken.contains(&place) || plan.renamed.contains_key(&place)) {
            let kept = places.zip(&draft.parts).filter(|(place, _)| !plan.taken.contains(place));
            let parts = kept.map(|(place, part)| with_call_id(part, plan.renamed.get(&place))).collect();
            draft.set_parts(parts);
        }
        paired.push(draft);
        if let Some(parts) = put_in.remove(&index).filter(|parts| !parts.is_empty()) {
            let first = parts.first().and_then(|part| part["call_id"].as_str()).unwrap_or_default();
            let id = format!("repair-result-{first}");
            paired.push(Draft::put_in("tool_result", &id, parts));
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

fn plan(drafts: &[Draft], format: Format) -> Plan {
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
                plan.taken.insert(result.place);
            }
        }
    }
    let in_place = in_place(&turns, &answers, format);
    let names = names(&pairing, format);
    for (call, call_id) in pairing.calls.iter().zip(names) {
        let source = match call.state {
            CallState::Answered(result) if in_place.contains(&result) => None,
            CallState::Answered(result) => {
                plan.taken.insert(result);
                Some(Source::Moved(result))
            }
            CallState::Pending | CallState::Unanswered => Some(Source::Missing { call_id: call_id.clone() }),
        };
        if let Some(source) = source {
            plan.put_in.entry(call.place.0).or_default().push(source);
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

/// The results that stand where the format wants them, once all others are gone.
fn in_place(turns: &[Turn<'_>], answers: &HashMap<usize, Vec<(Place, usize)>>, format: Format) -> HashSet<Place> {
    let mut kept = HashSet::new();
    let mut open = None;
    for (index, turn) in turns.iter().enumerate() {
        let answers = answers.get(&index).map_or(&[][..], Vec::as_slice);
        if takes_distant_results(format) {
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
        // A turn of which nothing is left does not stand between.
        if turn.has_rest(format) && (!stays || has_result_messages(format)) {
            open = None;
        }
    }
    kept
}

/// The id of each call: its own, or one like it where the format refuses that.
fn names(pairing: &Pairing<'_>, format: Format) -> Vec<String> {
    let mut taken: HashSet<String> = pairing.calls.iter().map(|call| call.call_id.to_owned()).collect();
    let mut next: HashMap<String, usize> = HashMap::new();
    let mut name = |call_id: &str, repeats: bool| {
        let valid = valid_call_id(format, call_id);
        if !repeats && (valid == call_id || !taken.contains(&valid)) {
            taken.insert(valid.clone());
            return valid;
        }
        let count = next.entry(valid.clone()).or_insert(2);
        loop {
            let end = format!("-{count}");
            *count += 1;
            let mut candidate = valid.clone();
            if format == Format::OpenAiResponses {
                candidate = valid.chars().take(LONGEST_CALL_ID.saturating_sub(end.len())).collect();
            }
            candidate.push_str(&end);
            if taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    };
    // The AI SDK speaks to those that refuse it.
    let is_refused =
        |repeats| is_refused_repeat(repeats, if format == Format::AiSdk { Format::Anthropic } else { format });
    pairing.calls.iter().map(|call| name(call.call_id, is_refused(call.repeats))).collect()
}

fn valid_call_id(format: Format, call_id: &str) -> String {
    if !Rule::InvalidCallId.holds_for(format) || is_call_id(format, call_id) {
        return call_id.to_owned();
    }
    let character =
        |character| if format != Format::Anthropic || is_word_character(character) { character } else { '_' };
    let length = if format == Format::OpenAiResponses { LONGEST_CALL_ID } else { usize::MAX };
    let valid: String = call_id.chars().map(character).take(length).collect();
    if valid.is_empty() { "call".to_owned() } else { valid }
}
