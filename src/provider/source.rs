//! The conversation that is handed over: the parts of a context, read once for every format.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::media::{Media, MediaKind};
use crate::conversation::{Context, Message, Special};
use crate::error::Error;
use crate::json::{self, MAX_DEPTH, Object};

/// What stands between the texts of a system prompt where a format takes one text only.
pub const BETWEEN_TEXTS: &str = "\n\n";

/// A conversation in the order in which a model reads it.
pub struct Source<'c> {
    /// The texts of the system prompt.
    pub system: Vec<Text<'c>>,
    pub tools: Vec<Tool<'c>>,
    pub turns: Vec<Turn<'c>>,
    repair: bool,
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
pub struct Place {
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
    pub text: Cow<'c, str>,
    pub fields: &'c Object,
}

pub struct Call<'c> {
    pub call_id: &'c str,
    pub name: &'c str,
    /// The text, as it is stored.
    pub arguments: Cow<'c, str>,
    pub fields: &'c Object,
    pub at: Place,
}

pub struct ToolResult<'c> {
    pub call_id: &'c str,
    pub content: Cow<'c, str>,
    /// The name of the tool: that of the call, or the one that the part has itself.
    pub name: Option<&'c str>,
    pub is_error: bool,
    pub fields: &'c Object,
    pub at: Place,
}

pub struct Tool<'c> {
    pub name: &'c str,
    pub description: Option<&'c str>,
    pub parameters: Option<&'c Object>,
    pub fields: &'c Object,
}

impl Place {
    /// The error of a field of this part.
    pub fn fault(self, field: &str, message: impl Into<String>) -> Error {
        let dot = if field.is_empty() { "" } else { "." };
        let Self { message: position, part } = self;
        Error::argument(&format!("messages[{position}].content[{part}]{dot}{field}"), message)
    }
}

impl<'c> Source<'c> {
    /// What a context holds, `messages` being those that are not special.
    ///
    /// # Errors
    ///
    /// The first part that cannot be read; with `repair` such a part is left out or replaced.
    pub fn read(
        context: &'c Context,
        messages: impl Iterator<Item = (usize, &'c Message)>,
        repair: bool,
    ) -> Result<Self, Error> {
        let mut source = Self { system: Vec::new(), tools: Vec::new(), turns: Vec::new(), repair };
        let mut names = HashMap::new();
        for position in context.specials().into_iter().flatten() {
            let Some(message) = context.message(position) else { continue };
            let is_prompt = context.special(Special::SystemPrompt) == Some(position);
            for part in source.parts(position, message, &mut names)? {
                match part {
                    Part::Text(text) if is_prompt => source.system.push(text),
                    Part::Media(media) => {
                        let text = source.instead_of(&media, "", "this message holds no media")?;
                        source.system.extend(is_prompt.then_some(Text { text: text.into(), fields: media.fields }));
                    }
                    // No format has a place for more than the texts of the one and the tools of the other.
                    _ => {}
                }
            }
        }
        for (position, message) in messages {
            let parts = source.parts(position, message, &mut names)?;
            let is_definitions = parts.is_empty()
                && (message.role() == "tool" || message.parts().iter().any(|part| part["type"] == "tool"));
            if !is_definitions {
                source.turns.extend(turns(position, message.role(), parts));
            }
        }
        Ok(source)
    }

    /// Whether a turn without content is to be left out.
    pub fn leaves_out<T>(&self, content: &[T]) -> bool {
        self.repair && content.is_empty()
    }

    /// The text that takes the place of a medium which a provider does not take.
    ///
    /// # Errors
    ///
    /// Without `repair`: it names the part.
    pub fn instead_of(&self, media: &Media, field: &str, message: &str) -> Result<String, Error> {
        let kind = media.kind.name();
        if self.repair {
            return Ok(format!("[{kind} left out: the provider takes none]"));
        }
        let help = "leave it out, or let toMessages(context, provider, { repair: true }) put a note in its place";
        Err(media.at.fault(field, format!("{message}; {help}")))
    }

    /// The arguments of a call as an object.
    ///
    /// # Errors
    ///
    /// Without `repair`, where the text is not that of an object: it names the field.
    pub fn arguments(&self, call: &Call) -> Result<Object, Error> {
        // One more level would not fit into a message any more.
        match json::parse_within(call.arguments.as_bytes(), MAX_DEPTH - 4) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ if self.repair => {
                Ok(Object::from_iter([("invalid_arguments".to_owned(), call.arguments.as_ref().into())]))
            }
            Ok(_) => Err(call.at.fault("arguments", "expected the JSON text of an object")),
            Err(error) => Err(call.at.fault("arguments", format!("is no JSON: {}", error.message))),
        }
    }

    /// The name of the tool that a result is of.
    ///
    /// # Errors
    ///
    /// Where no call before has the id, without `repair`.
    pub fn tool_name(&self, result: &ToolResult<'c>) -> Result<&'c str, Error> {
        match result.name {
            Some(name) => Ok(name),
            None if self.repair => Ok("unknown_tool"),
            None => {
                let message = "no call before this result has the id, and the provider needs the name of the tool; \
                               take the message out, or put the call before it";
                Err(result.at.fault("call_id", message))
            }
        }
    }

    /// The parts of a message but its tools, which go to those of the source.
    fn parts(
        &mut self,
        position: usize,
        message: &'c Message,
        names: &mut HashMap<&'c str, &'c str>,
    ) -> Result<Vec<Part<'c>>, Error> {
        let mut parts = Vec::new();
        for (index, part) in message.parts().iter().enumerate() {
            let Some(fields) = part.as_object() else { continue };
            let reader = Reader { fields, at: Place { message: position, part: index }, repair: self.repair };
            if reader.kind() == "tool" {
                self.tools.extend(reader.tool()?);
                continue;
            }
            let Some(mut part) = reader.part()? else { continue };
            match &mut part {
                Part::Call(call) => {
                    names.insert(call.call_id, call.name);
                }
                Part::Result(result) => result.name = names.get(result.call_id).copied().or(result.name),
                _ => {}
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

/// The turns of a message. The results of tools come first, unless the assistant has them, who may have spoken before.
fn turns<'c>(message: usize, role: &str, parts: Vec<Part<'c>>) -> Vec<Turn<'c>> {
    let speaker = match role {
        "assistant" => Speaker::Assistant,
        "system" | "developer" => Speaker::System,
        _ => Speaker::User,
    };
    let mut turns: Vec<Turn> = Vec::new();
    if parts.is_empty() {
        return vec![Turn { speaker, message, parts }];
    }
    let (first, rest) = match speaker {
        Speaker::Assistant => (Vec::new(), parts),
        _ => parts.into_iter().partition(|part| matches!(part, Part::Result(_))),
    };
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

/// Reads a stored part, which may be anything.
struct Reader<'c> {
    fields: &'c Object,
    at: Place,
    repair: bool,
}

impl<'c> Reader<'c> {
    fn kind(&self) -> &'c str {
        self.fields.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// `None` for a part that a repair leaves out.
    fn part(&self) -> Result<Option<Part<'c>>, Error> {
        if let Some(kind) = MediaKind::of_part(self.kind()) {
            return self.media(kind).map(|media| media.map(Part::Media));
        }
        match self.kind() {
            "text" => Ok(self.text()?.map(Part::Text)),
            "thinking" => Ok(self.text()?.map(Part::Thinking)),
            "redacted_thinking" => Ok(self.string("data")?.map(|data| Part::RedactedThinking { data })),
            "tool_use" => self.call().map(|call| call.map(Part::Call)),
            "tool_result" => self.result().map(|result| result.map(Part::Result)),
            _ if self.repair => Ok(None),
            kind => {
                let message = format!(
                    "a part of the type {kind:?} has no place in the messages of a provider; take it out, or let \
                     toMessages(context, provider, {{ repair: true }}) leave it out"
                );
                Err(self.at.fault("type", message))
            }
        }
    }

    fn text(&self) -> Result<Option<Text<'c>>, Error> {
        let text = self.string("text")?;
        Ok(text.map(|text| Text { text: text.into(), fields: self.fields }))
    }

    fn media(&self, kind: MediaKind) -> Result<Option<Media<'c>>, Error> {
        match Media::read(kind, self.fields, self.at) {
            Err(_) if self.repair => Ok(None),
            read => read.map(Some),
        }
    }

    fn call(&self) -> Result<Option<Call<'c>>, Error> {
        let Some(call_id) = self.string("call_id")? else { return Ok(None) };
        // A call that were left out would leave its result alone.
        let name = self.string("name")?.unwrap_or("unknown_tool");
        let arguments = self.text_of("arguments")?;
        Ok(Some(Call { call_id, name, arguments, fields: self.fields, at: self.at }))
    }

    fn result(&self) -> Result<Option<ToolResult<'c>>, Error> {
        let Some(call_id) = self.string("call_id")? else { return Ok(None) };
        let content = self.text_of("content")?;
        let name = self.fields.get("name").and_then(Value::as_str);
        let is_error = self.fields.get("is_error") == Some(&Value::Bool(true));
        Ok(Some(ToolResult { call_id, content, name, is_error, fields: self.fields, at: self.at }))
    }

    fn tool(&self) -> Result<Option<Tool<'c>>, Error> {
        let Some(name) = self.string("name")? else { return Ok(None) };
        let description = self.optional("description", "a string", Value::as_str)?;
        let parameters = self.optional("parameters", "an object, a JSON schema", Value::as_object)?;
        Ok(Some(Tool { name, description, parameters, fields: self.fields }))
    }

    /// `None` where it is no string and a repair goes on without it.
    fn string(&self, key: &str) -> Result<Option<&'c str>, Error> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Ok(Some(text)),
            _ if self.repair => Ok(None),
            _ => Err(self.at.fault(key, "expected a string; mend the message with context.updateMessage")),
        }
    }

    /// A text, for which a repair takes the JSON of what is there instead.
    fn text_of(&self, key: &str) -> Result<Cow<'c, str>, Error> {
        match (self.string(key)?, self.fields.get(key)) {
            (Some(text), _) => Ok(text.into()),
            (None, Some(value)) => Ok(json::to_compact_text(value)?.into()),
            (None, None) => Ok("".into()),
        }
    }

    fn optional<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'c Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                None if !self.repair => Err(self.at.fault(key, format!("expected {expected}"))),
                found => Ok(found),
            },
        }
    }
}
