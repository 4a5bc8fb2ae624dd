//! Builds a conversation from the entries that a format reads.

use std::collections::HashMap;

use serde_json::Value;

use super::compose::{compose, compose_turns};
use super::dict::{dict, set};
use super::entry::{Entry, Section, Slot};
use super::field::Field;
use super::format::{ProviderFormat, ResultPlacement};
use super::originals;
use super::reader::{Unsendable, read_source};
use super::source::{BETWEEN_TEXTS, Source};
use super::writing;
use peteos_conversation::error::{Error, ShapeError};
use peteos_conversation::{
    CallState, Message, NewConversation, PairedCall, PairedMessage, Pairing, PartKind, Place, ResultState, Tools,
};

/// Collects the entries of a request.
#[derive(Default)]
pub struct ConversationBuilder {
    system: NewMessage,
    tools: NewMessage,
    messages: Vec<NewMessage>,
}

/// A message to be added.
#[derive(Default)]
struct NewMessage {
    role: &'static str,
    parts: Vec<Value>,
    /// The entries that the parts come from, in their order, and where each part was.
    entries: Vec<(Section, Value, Vec<Slot>)>,
}

impl NewMessage {
    fn paired(&self) -> PairedMessage<'_> {
        PairedMessage { is_assistant: self.role == "assistant", parts: &self.parts, tools: Tools::Functions }
    }

    fn add(&mut self, section: Section, value: &Value, entry: Entry) {
        let (slots, parts): (Vec<Slot>, Vec<Value>) = entry.blocks.into_iter().unzip();
        self.parts.extend(parts);
        self.entries.push((section, value.clone(), slots));
    }
}

impl ConversationBuilder {
    /// Adds an entry of the system prompt or of the tools.
    ///
    /// # Errors
    ///
    /// A block that is null.
    pub fn add_special(&mut self, section: Section, field: &Field, entry: Entry) -> Result<(), ShapeError> {
        refuse_null(field, &entry)?;
        let message = if section == Section::System { &mut self.system } else { &mut self.tools };
        message.add(section, field.value, entry);
        Ok(())
    }

    /// Adds an entry of the messages. A system message that nothing precedes is the system prompt if `is_prompt_message`,
    /// for formats that send the prompt as a message.
    ///
    /// # Errors
    ///
    /// A block that is null.
    pub fn add(&mut self, field: &Field, entry: Entry, is_prompt_message: bool) -> Result<(), ShapeError> {
        refuse_null(field, &entry)?;
        let is_first = self.messages.is_empty() && self.system.parts.is_empty() && !entry.blocks.is_empty();
        if is_prompt_message && is_first && entry.role == "system" {
            self.system.add(Section::Messages, field.value, entry);
            return Ok(());
        }
        match self.messages.last_mut() {
            Some(last)
                if entry.joins && last.role == entry.role && !last.parts.is_empty() && !entry.blocks.is_empty() =>
            {
                last.add(Section::Messages, field.value, entry);
            }
            _ => {
                let mut message = NewMessage { role: entry.role, ..NewMessage::default() };
                message.add(Section::Messages, field.value, entry);
                self.messages.push(message);
            }
        }
        Ok(())
    }

    /// Gives calls the decisions about them, in formats that have these as parts: a request for an approval that names the
    /// call, and the response to it.
    pub fn decide_approvals(&mut self) {
        let parts = || self.messages.iter().flat_map(|message| &message.parts).map(|part| &part["value"]);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let calls: HashMap<String, String> =
            parts().filter_map(|value| Some((text(value, "approvalId")?, text(value, "toolCallId")?))).collect();
        let decided: HashMap<String, &str> = parts()
            .filter_map(|value| {
                let call = calls.get(&text(value, "approvalId")?)?;
                let approved = value.get("approved")?.as_bool()?;
                Some((call.clone(), if approved { "approved" } else { "denied" }))
            })
            .collect();
        for part in self.messages.iter_mut().flat_map(|message| &mut message.parts) {
            let is_call = PartKind::of(part) == PartKind::ToolCall;
            let status = part["call_id"].as_str().filter(|_| is_call).and_then(|id| decided.get(id)).copied();
            if let Some(status) = status {
                set(part, "approval_status", status.into());
            }
        }
    }

    /// The conversation.
    ///
    /// # Errors
    ///
    /// None that input can cause.
    pub fn into_conversation(mut self, format: &dyn ProviderFormat) -> Result<NewConversation, Error> {
        self.name_calls();
        self.match_results();
        let texts: Vec<&str> = self.system.parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = texts.join(BETWEEN_TEXTS);
        let system = (!self.system.parts.is_empty())
            .then(|| dict! {"_static_text": text, "role": "system", "content": take(&mut self.system.parts)});
        let tools =
            (!self.tools.parts.is_empty()).then(|| dict! {"role": "tool", "content": take(&mut self.tools.parts)});
        let message = |message: &mut NewMessage| dict! {"role": message.role, "content": take(&mut message.parts)};
        let messages: Vec<Message> = self.messages.iter_mut().map(message).map(incomplete).collect();
        let (system, tools) = (system.map(incomplete), tools.map(incomplete));
        let records = self.records([system.as_ref(), tools.as_ref()], &messages, format)?;
        let mut records = records.into_iter();
        let mut with_record = |message: Message| {
            let mut dict = message.into_dict();
            if let Some(record) = records.next().flatten() {
                dict.insert(originals::KEY.to_owned(), record);
            }
            Value::Object(dict)
        };
        let system_prompt = system.map(&mut with_record);
        let tool_definitions = tools.map(&mut with_record);
        let messages = messages.into_iter().map(with_record).collect();
        Ok(NewConversation { system_prompt, tool_definitions, messages })
    }

    /// What has to be kept of each message, the special ones first.
    fn records(
        &self,
        specials: [Option<&Message>; 2],
        messages: &[Message],
        format: &dyn ProviderFormat,
    ) -> Result<Vec<Option<Value>>, Error> {
        let mut records = Vec::new();
        let source = read_source(
            specials.map(|special| special.map(|message| (0, message))),
            messages.iter().enumerate(),
            format,
            Unsendable::LeftOut,
        )?;
        let Source { prompt, tools, turns } = source;
        let special = Source { prompt, tools, turns: Vec::new() };
        let written = compose(special, format);
        for (message, written) in [(&self.system, &written.system), (&self.tools, &written.tools)] {
            if !message.entries.is_empty() {
                records.push(originals::kept(&message.entries, written, false, format));
            }
        }
        let mut turns = turns.into_iter().peekable();
        let mut after_thinking = false;
        for (index, message) in self.messages.iter().enumerate() {
            let mut own = Vec::new();
            while let Some(turn) = turns.next_if(|turn| turn.message == index) {
                own.push(turn);
            }
            own.retain(|turn| !turn.is_lifted(format));
            let written = compose_turns(own, format, &mut after_thinking);
            let is_apart = format.requirements().results == ResultPlacement::NextTurn
                && has_results(messages.get(index))
                && (has_results(messages.get(index + 1))
                    || has_results(index.checked_sub(1).and_then(|index| messages.get(index))));
            records.push(originals::kept(&message.entries, &written, is_apart, format));
        }
        Ok(records)
    }

    /// Gives calls without an id one that tells their position, and their results the same. Formats in which calls have no
    /// ids match them by the name of the tool.
    fn name_calls(&mut self) {
        let mut unanswered: Vec<(String, String)> = Vec::new();
        for (message, NewMessage { parts, .. }) in self.messages.iter_mut().enumerate() {
            for (index, part) in parts.iter_mut().enumerate() {
                let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                let (kind, name, mut id) = (PartKind::of(part), text("name"), text("call_id"));
                if !matches!(kind, PartKind::ToolCall | PartKind::ToolResult) {
                    continue;
                }
                if id.is_empty() {
                    let is_of = |called: &str| called == name || name.is_empty();
                    let is_open = |id: &str, called: &str| id.starts_with(UNNAMED) && is_of(called);
                    let mut open = unanswered.iter().filter(|_| kind == PartKind::ToolResult);
                    let open = open.find(|(id, called)| is_open(id, called));
                    id = open.map_or_else(|| format!("{UNNAMED}{message}_{index}"), |(id, _)| id.clone());
                    set(part, "call_id", id.as_str().into());
                }
                match kind {
                    PartKind::ToolCall => unanswered.push((id, name)),
                    _ => unanswered.retain(|(other, _)| *other != id),
                }
            }
        }
    }

    /// Marks calls with a result as approved, and removes the name of the tool from results whose call has it.
    fn match_results(&mut self) {
        let pairing = Pairing::of(self.messages.iter().map(NewMessage::paired));
        let name = |(message, part): Place| self.messages.get(message)?.parts.get(part)?.get("name");
        let is_answered = |call: &&PairedCall| matches!(call.state, CallState::Answered(_));
        let answered: Vec<Place> = pairing.calls.iter().filter(is_answered).map(|call| call.place).collect();
        let named_as_call: Vec<Place> = pairing
            .results
            .iter()
            .filter_map(|result| match result.state {
                ResultState::Answers(call) | ResultState::Second(call) => {
                    let named = name(result.place)?;
                    (name(pairing.calls.get(call)?.place)? == named).then_some(result.place)
                }
                ResultState::Orphan => None,
            })
            .collect();
        for place in answered {
            if let Some(part) = self.part_mut(place).filter(|part| part["approval_status"] == "pending") {
                set(part, "approval_status", "approved".into());
            }
        }
        for place in named_as_call {
            if let Some(Value::Object(fields)) = self.part_mut(place) {
                fields.shift_remove("name");
            }
        }
    }

    fn part_mut(&mut self, (message, part): Place) -> Option<&mut Value> {
        self.messages.get_mut(message)?.parts.get_mut(part)
    }
}

/// The beginning of the id of a call that came without one. Formats that allow it send such a call without an id again.
pub const UNNAMED: &str = "unnamed_";

/// A message without an id and a time.
fn incomplete(dict: Value) -> Message {
    Message::of_dict(writing::object(dict))
}

fn take(parts: &mut Vec<Value>) -> Value {
    std::mem::take(parts).into()
}

fn has_results(message: Option<&Message>) -> bool {
    message.is_some_and(|message| message.kinds().contains(PartKind::ToolResult))
}

/// Null stands for a block that was left out of a kept entry. In a request it is an error.
fn refuse_null(field: &Field, entry: &Entry) -> Result<(), ShapeError> {
    for (slot, part) in &entry.blocks {
        if let (Slot::Item(list, index), Value::Null) = (slot, part) {
            let items = field.required(list)?.items()?;
            return Err(items.get(*index).unwrap_or(field).wrong("an object"));
        }
    }
    Ok(())
}
