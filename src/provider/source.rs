//! The conversation that is handed over: the parts of a context, read once for every format.

use std::collections::HashMap;

use serde_json::Value;

use super::Format;
use super::media::Media;
use super::part::{
    self, Role, Tool, arguments_object, media_fault, takes_thinking, wants_arguments_object, wants_result_names,
};
use crate::conversation::Message;
use crate::error::Error;
use crate::json::Object;

/// What stands between the texts of a system prompt where a format takes one text only.
pub const BETWEEN_TEXTS: &str = "\n\n";

/// A conversation in the order in which a model reads it.
pub struct Source<'c> {
    /// The texts of the system prompt.
    pub system: Vec<Text<'c>>,
    pub tools: Vec<Tool<'c>>,
    pub turns: Vec<Turn<'c>>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    System,
    User,
    Assistant,
    /// What the tools have answered.
    Tools,
}

/// Neighbouring parts of one message that one speaker says.
pub struct Turn<'c> {
    pub speaker: Speaker,
    /// The position of the message.
    pub message: usize,
    pub parts: Vec<Part<'c>>,
}

/// Where a part stands in the context.
#[derive(Clone, Copy)]
struct Place {
    message: usize,
    part: usize,
}

/// A part of a message.
pub enum Part<'c> {
    Text(Text<'c>),
    Thinking(Text<'c>),
    /// Thinking of Anthropic that nobody else can read.
    RedactedThinking {
        data: &'c str,
    },
    Media(Media<'c>),
    Call(Call<'c>),
    Result(ToolResult<'c>),
}

pub struct Text<'c> {
    pub text: &'c str,
    pub fields: &'c Object,
}

pub struct Call<'c> {
    pub call_id: &'c str,
    pub name: &'c str,
    /// The text, as it is stored.
    pub arguments: &'c str,
    /// The object that it is of, for formats that have that.
    pub input: Object,
    pub fields: &'c Object,
}

pub struct ToolResult<'c> {
    pub call_id: &'c str,
    pub content: &'c str,
    /// The name of the tool: that of the call, or the one that the part has itself; empty for formats that have none.
    pub name: &'c str,
    pub is_error: bool,
    pub fields: &'c Object,
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

impl<'c> Source<'c> {
    /// What a context holds: its special messages, the system prompt first, and the others; each with its position.
    ///
    /// # Errors
    ///
    /// The first part that the format has no place for, or that is not what it has to be.
    pub fn read(
        specials: [Option<(usize, &'c Message)>; 2],
        messages: impl Iterator<Item = (usize, &'c Message)>,
        format: Format,
    ) -> Result<Self, Error> {
        let mut reader = Reader { format, tools: Vec::new(), names: HashMap::new() };
        let mut system = Vec::new();
        for (index, special) in specials.into_iter().enumerate() {
            let Some((position, message)) = special else { continue };
            for part in reader.parts(position, message, None)? {
                // No format has a place for more than the texts of the one and the tools of the other.
                if let (0, Part::Text(text)) = (index, part) {
                    system.push(text);
                }
            }
        }
        let mut turns = Vec::new();
        for (position, message) in messages {
            let role = Role::of(message.role());
            let parts = reader.parts(position, message, Some(role))?;
            let is_definitions = parts.is_empty()
                && (message.role() == "tool" || message.parts().iter().any(|part| part["type"] == "tool"));
            if !is_definitions {
                turns.extend(turns_of(position, role, parts));
            }
        }
        Ok(Self { system, tools: reader.tools, turns })
    }
}

/// The turns of a message. The results of tools come first, unless the assistant has them, who may have spoken before.
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
struct Reader<'c> {
    format: Format,
    tools: Vec<Tool<'c>>,
    /// The names of the tools that were called, by the id of the call.
    names: HashMap<&'c str, &'c str>,
}

impl<'c> Reader<'c> {
    /// The parts of a message that the format is given, but its tools, which are kept. A special message has no role.
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
            part::Part::Thinking(_) if !takes_thinking(format, role, fields) => return Ok(None),
            part::Part::Thinking(_) => match string(fields, "data") {
                Some(data) if string(fields, "type") == Some("redacted_thinking") => Part::RedactedThinking { data },
                _ => Part::Thinking(Text { text: string(fields, "text").unwrap_or_default(), fields }),
            },
            part::Part::Media(media) => match media_fault(format, role, &media) {
                None => Part::Media(media),
                Some((field, fault)) => {
                    let help = "let toMessages(context, provider, { repair: true }) put a note in its place";
                    return Err(at.fault(field, format!("{fault}; leave it out, or {help}")));
                }
            },
            part::Part::Call(part::Call { call_id, name, arguments, .. }) => {
                self.names.insert(call_id, name);
                let input = if wants_arguments_object(format) {
                    arguments_object(arguments).map_err(|fault| at.fault("arguments", fault))?
                } else {
                    Object::new()
                };
                Part::Call(Call { call_id, name, arguments, input, fields })
            }
            part::Part::Result { call_id, content } => {
                let name = self.names.get(call_id).copied().or_else(|| string(fields, "name"));
                if name.is_none() && wants_result_names(format) {
                    let fault = "no call before this result has the id, and the provider needs the name of the tool; \
                                 take the message out, or put the call before it";
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
                    "a part of the type {kind:?} has no place in the messages of a provider; take it out, or let \
                     toMessages(context, provider, {{ repair: true }}) leave it out"
                );
                return Err(at.fault("type", message));
            }
            part::Part::Invalid { field, expected } => {
                let message = format!("expected {expected}; mend the message with context.updateMessage");
                return Err(at.fault(field, message));
            }
        }))
    }
}

fn string<'c>(fields: &'c Object, key: &str) -> Option<&'c str> {
    fields.get(key).and_then(Value::as_str)
}
