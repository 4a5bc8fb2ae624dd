//! Reads the stored messages of a context for a format.

use serde_json::Value;

use super::format::{ProviderFormat, accepts_thinking, media_fault};
use super::part::{self, Role, Tool, arguments_object, is_redacted};
use super::source::{Call, Part, Source, Speaker, Text, ToolResult, Turn};
use peteos_conversation::error::Error;
use peteos_conversation::{Message, Pairing, ResultState};
use peteos_json::Object;

/// A part of a message in the context.
#[derive(Clone, Copy)]
struct Location {
    /// The position of the message in the context.
    position: usize,
    /// The index of the message among those that are read.
    message: usize,
    /// The index of the part in the message.
    part: usize,
}

impl Location {
    /// An error about a field of this part.
    #[cold]
    fn fault(self, field: &str, message: impl Into<String>) -> Error {
        let dot = if field.is_empty() { "" } else { "." };
        let Self { position, part, .. } = self;
        Error::argument(&format!("messages[{position}].content[{part}]{dot}{field}"), message)
    }
}

/// Reads the special messages of a context, the system prompt first, and its other messages, each with its position.
///
/// # Errors
///
/// The first part that the format does not support, or that lacks a required field.
pub fn read_source<'c>(
    specials: [Option<(usize, &'c Message)>; 2],
    messages: impl Iterator<Item = (usize, &'c Message)>,
    format: &dyn ProviderFormat,
) -> Result<Source<'c>, Error> {
    let messages: Vec<(usize, &Message)> = messages.collect();
    let pairing = match format.requirements().has_result_names {
        true => Pairing::of(messages.iter().map(|(_, message)| message.paired())),
        false => Pairing::default(),
    };
    let mut reader = Reader { format, messages: &messages, pairing, tools: Vec::new() };
    let mut system = Vec::new();
    for (index, special) in specials.into_iter().enumerate() {
        let Some((position, message)) = special else { continue };
        for part in reader.parts(Location { position, message: 0, part: 0 }, message, None)? {
            // Formats take only the texts of the system prompt and the tools of the tool definitions.
            if let (0, Part::Text(text)) = (index, part) {
                system.push(text);
            }
        }
    }
    let mut turns = Vec::new();
    for (index, &(position, message)) in messages.iter().enumerate() {
        let role = Role::of(message.role());
        let parts = reader.parts(Location { position, message: index, part: 0 }, message, Some(role))?;
        let is_definitions =
            parts.is_empty() && (message.role() == "tool" || message.parts().iter().any(|part| part["type"] == "tool"));
        if !is_definitions {
            turns.extend(turns_of(position, role, parts));
        }
    }
    Ok(Source { system, tools: reader.tools, turns })
}

/// The turns of a message. Tool results come first, except in a message of the assistant, where text may precede them.
fn turns_of<'c>(message: usize, role: Role, parts: Vec<Part<'c>>) -> Vec<Turn<'c>> {
    let speaker = match role {
        Role::Assistant => Speaker::Assistant,
        Role::System => Speaker::System,
        Role::User | Role::Tool | Role::Unknown => Speaker::User,
    };
    if parts.is_empty() {
        return vec![Turn { speaker, message, parts }];
    }
    let (first, rest) = match speaker {
        Speaker::Assistant => (Vec::new(), parts),
        _ => parts.into_iter().partition(|part| matches!(part, Part::Result(_))),
    };
    let mut turns: Vec<Turn> = Vec::new();
    for part in first.into_iter().chain(rest) {
        let speaker = match &part {
            Part::Result(_) => Speaker::Tools,
            Part::Call(_) | Part::Thinking(_) | Part::RedactedThinking { .. } => Speaker::Assistant,
            Part::Text(_) | Part::Media(_) => speaker,
        };
        match turns.last_mut() {
            Some(turn) if turn.speaker == speaker => turn.parts.push(part),
            _ => turns.push(Turn { speaker, message, parts: vec![part] }),
        }
    }
    turns
}

/// Reads stored parts, which may have any content.
struct Reader<'c, 'r> {
    format: &'r dyn ProviderFormat,
    messages: &'r [(usize, &'c Message)],
    /// The calls and results of the messages, if the format needs the name of the tool with each result.
    pairing: Pairing<'c>,
    tools: Vec<Tool<'c>>,
}

impl<'c> Reader<'c, '_> {
    /// The parts of a message that the format accepts. Tool definitions are kept in the reader. A special message has no role.
    fn parts(&mut self, at: Location, message: &'c Message, role: Option<Role>) -> Result<Vec<Part<'c>>, Error> {
        let mut parts = Vec::new();
        for (index, part) in message.parts().iter().enumerate() {
            let Some(fields) = part.as_object() else { continue };
            parts.extend(self.part(part, fields, role, Location { part: index, ..at })?);
        }
        Ok(parts)
    }

    /// The name of the tool in the call that a result answers.
    fn called_name(&self, result: Location) -> Option<&'c str> {
        let place = (result.message, result.part);
        let index = self.pairing.results.binary_search_by_key(&place, |result| result.place).ok()?;
        match self.pairing.results.get(index)?.state {
            ResultState::Answers(call) | ResultState::Second(call) => {
                let (message, part) = self.pairing.calls.get(call)?.place;
                string(self.messages.get(message)?.1.parts().get(part)?.as_object()?, "name")
            }
            ResultState::Orphan => None,
        }
    }

    fn part(
        &mut self,
        part: &'c Value,
        fields: &'c Object,
        role: Option<Role>,
        at: Location,
    ) -> Result<Option<Part<'c>>, Error> {
        let format = self.format;
        let is_special = role.is_none();
        let role = role.unwrap_or(Role::System);
        Ok(Some(match part::Part::read(part) {
            part::Part::Thinking(_) | part::Part::Call(_) | part::Part::Result { .. } if is_special => return Ok(None),
            part::Part::Text { text, .. } => Part::Text(Text { text, fields }),
            part::Part::Thinking(_) if !accepts_thinking(format, role, fields) => return Ok(None),
            part::Part::Thinking(_) => match string(fields, "data") {
                Some(data) if is_redacted(fields) => Part::RedactedThinking { data },
                _ => Part::Thinking(Text { text: string(fields, "text").unwrap_or_default(), fields }),
            },
            part::Part::Media(media) => match media_fault(format, role, &media) {
                None => Part::Media(media),
                Some(fault) => {
                    let message =
                        format!("{}; remove it, or set the option repair to replace it with a note", fault.message);
                    return Err(at.fault(fault.field, message));
                }
            },
            part::Part::Call(part::Call { call_id, name, arguments, .. }) => {
                let input = if format.requirements().has_argument_objects {
                    arguments_object(arguments).map_err(|fault| at.fault("arguments", fault))?
                } else {
                    Object::new()
                };
                Part::Call(Call { call_id, name, arguments, input, fields })
            }
            part::Part::Result { call_id, content } => {
                let name = self.called_name(at).or_else(|| string(fields, "name"));
                if name.is_none() && format.requirements().has_result_names {
                    let fault = "no preceding call has this id, and the provider requires the name of the tool; remove \
                                 the result, or restore its call";
                    return Err(at.fault("call_id", fault));
                }
                let is_error = fields.get("is_error") == Some(&Value::Bool(true));
                Part::Result(ToolResult { call_id, content, name: name.unwrap_or_default(), is_error, fields })
            }
            part::Part::Definition(tool) => {
                self.tools.push(tool);
                return Ok(None);
            }
            part::Part::Unknown(kind) => {
                let message = format!(
                    "no provider supports parts of the type {kind:?}; remove it, or set the option repair to omit it"
                );
                return Err(at.fault("type", message));
            }
            part::Part::Invalid { field, expected } => {
                let message = format!("expected {expected}; correct the stored message");
                return Err(at.fault(field, message));
            }
        }))
    }
}

fn string<'c>(fields: &'c Object, key: &str) -> Option<&'c str> {
    fields.get(key).and_then(Value::as_str)
}
