//! Reads the stored messages of a context for a format.

use std::collections::HashMap;

use serde_json::Value;

use super::format::{ProviderFormat, accepts_thinking, media_fault};
use super::part::{self, Role, Tool, arguments_object, is_redacted};
use super::source::{Call, Part, Source, Speaker, Text, ToolResult, Turn};
use crate::conversation::Message;
use crate::error::Error;
use crate::json::Object;

/// The place of a part in the context.
#[derive(Clone, Copy)]
struct Place {
    message: usize,
    part: usize,
}

impl Place {
    /// The error of a field of this part.
    #[cold]
    fn fault(self, field: &str, message: impl Into<String>) -> Error {
        let dot = if field.is_empty() { "" } else { "." };
        let Self { message: position, part } = self;
        Error::argument(&format!("messages[{position}].content[{part}]{dot}{field}"), message)
    }
}

/// Reads the special messages of a context, the system prompt first, and its other messages, each with its position.
///
/// # Errors
///
/// The first part that the format does not support, or that lacks what its type needs.
pub fn read_source<'c>(
    specials: [Option<(usize, &'c Message)>; 2],
    messages: impl Iterator<Item = (usize, &'c Message)>,
    format: &dyn ProviderFormat,
) -> Result<Source<'c>, Error> {
    let mut reader = Reader { format, tools: Vec::new(), names: HashMap::new() };
    let mut system = Vec::new();
    for (index, special) in specials.into_iter().enumerate() {
        let Some((position, message)) = special else { continue };
        for part in reader.parts(position, message, None)? {
            // No format has more of them than the texts of the one and the tools of the other.
            if let (0, Part::Text(text)) = (index, part) {
                system.push(text);
            }
        }
    }
    let mut turns = Vec::new();
    for (position, message) in messages {
        let role = Role::of(message.role());
        let parts = reader.parts(position, message, Some(role))?;
        let is_definitions =
            parts.is_empty() && (message.role() == "tool" || message.parts().iter().any(|part| part["type"] == "tool"));
        if !is_definitions {
            turns.extend(turns_of(position, role, parts));
        }
    }
    Ok(Source { system, tools: reader.tools, turns })
}

/// The turns of a message. Tool results come first, except in a message of the assistant, who may have spoken before them.
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

/// Reads stored parts, which may be anything.
struct Reader<'c, 'f> {
    format: &'f dyn ProviderFormat,
    tools: Vec<Tool<'c>>,
    /// The names of the tools that were called, by the id of the call.
    names: HashMap<&'c str, &'c str>,
}

impl<'c> Reader<'c, '_> {
    /// The parts of a message that the format accepts. Tool definitions are kept in the reader. A special message has no role.
    fn parts(&mut self, position: usize, message: &'c Message, role: Option<Role>) -> Result<Vec<Part<'c>>, Error> {
        let mut parts = Vec::new();
        for (index, part) in message.parts().iter().enumerate() {
            let Some(fields) = part.as_object() else { continue };
            parts.extend(self.part(part, fields, role, Place { message: position, part: index })?);
        }
        Ok(parts)
    }

    fn part(
        &mut self,
        part: &'c Value,
        fields: &'c Object,
        role: Option<Role>,
        at: Place,
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
                        format!("{}; remove it, or set the option repair to replace it by a note", fault.message);
                    return Err(at.fault(fault.field, message));
                }
            },
            part::Part::Call(part::Call { call_id, name, arguments, .. }) => {
                self.names.insert(call_id, name);
                let input = if format.requirements().has_argument_objects {
                    arguments_object(arguments).map_err(|fault| at.fault("arguments", fault))?
                } else {
                    Object::new()
                };
                Part::Call(Call { call_id, name, arguments, input, fields })
            }
            part::Part::Result { call_id, content } => {
                let name = self.names.get(call_id).copied().or_else(|| string(fields, "name"));
                if name.is_none() && format.requirements().has_result_names {
                    let fault = "no call before this result has this id, and the provider needs the name of the tool; \
                                 remove the result, or put the call before it";
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
                    "parts of the type {kind:?} are not supported by providers; remove it, or set the option repair to \
                     leave it out"
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
