//! The conversation from which a format writes a request.

use std::rc::Rc;

use serde_json::Value;

use super::entry::Target;
use super::format::ProviderFormat;
use super::media::Media;
use super::originals::Shell;
use super::part::Tool;
pub use super::part::{ResultContent, ResultPart, Text};
use peteos_conversation::PartKind;
use peteos_json::Object;

/// The separator between the texts of a system prompt in a format that accepts only one text.
pub const BETWEEN_TEXTS: &str = "\n\n";

/// A conversation in the order in which a model reads it.
pub struct Source<'c> {
    /// The system prompt.
    pub prompt: Vec<Turn<'c>>,
    /// The definitions of the tools.
    pub tools: Vec<Turn<'c>>,
    /// The messages.
    pub turns: Vec<Turn<'c>>,
}

/// The speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The system, before the conversation.
    Prompt,
    /// The definitions of the tools.
    Definitions,
    /// The system, between other messages.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The tools, with their results.
    Tools,
}

impl Speaker {
    /// Whether its turns are messages of the conversation.
    pub fn is_of_messages(self) -> bool {
        !matches!(self, Self::Prompt | Self::Definitions)
    }
}

/// Consecutive parts of one message that go to one place.
pub struct Turn<'c> {
    /// The speaker.
    pub speaker: Speaker,
    /// The position of the message.
    pub message: usize,
    /// The parts.
    pub pieces: Vec<Piece<'c>>,
    /// The entry that they came from, if it was kept.
    pub shell: Option<Rc<Shell>>,
    /// Whether thinking was removed that the provider had sent with this message.
    pub lost_thinking: bool,
}

impl Turn<'_> {
    /// Whether its text goes to the system prompt.
    pub fn is_lifted(&self, format: &dyn ProviderFormat) -> bool {
        self.speaker == Speaker::System && self.shell.is_none() && format.requirements().lifts_system_messages
    }
}

/// A part of a message, and its place.
pub struct Piece<'c> {
    /// The position of the message.
    pub message: usize,
    /// The index of the part in the message.
    pub index: usize,
    /// The part.
    pub part: Part<'c>,
}

/// A part of a message.
pub enum Part<'c> {
    /// A text.
    Text(Text<'c>),
    /// Readable thinking.
    Thinking(Text<'c>),
    /// Thinking that only the provider can read.
    RedactedThinking {
        /// The encrypted thinking.
        data: &'c str,
        /// All fields of the stored part.
        fields: &'c Object,
    },
    /// An image, a video, audio or a PDF document.
    Media(Media<'c>),
    /// A tool call.
    Call(Call<'c>),
    /// A tool result.
    Result(ToolResult<'c>),
    /// The definition of a tool.
    Definition(Tool<'c>),
    /// What the provider sent, to be sent as it is.
    Kept(KeptPart),
}

impl Part<'_> {
    /// Whether it is a tool result.
    pub fn is_result(&self) -> bool {
        matches!(self, Self::Result(_) | Self::Kept(KeptPart { kind: PartKind::ToolResult, .. }))
    }

    /// Whether it is thinking.
    pub fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking(_) | Self::Kept(KeptPart { kind: PartKind::Thinking, .. }))
    }
}

/// What the provider sent.
pub struct KeptPart {
    /// The kind of the stored part.
    pub kind: PartKind,
    /// Where it goes.
    pub target: Target,
    /// The block.
    pub block: Value,
}

/// A tool call.
pub struct Call<'c> {
    /// Its id.
    pub call_id: &'c str,
    /// The name of the tool.
    pub name: &'c str,
    /// The arguments as JSON text.
    pub arguments: &'c str,
    /// The arguments as an object, if the format requires that; otherwise empty.
    pub input: Object,
    /// All fields of the stored part.
    pub fields: &'c Object,
}

/// A tool result.
pub struct ToolResult<'c> {
    /// The id of its call.
    pub call_id: &'c str,
    /// What the tool returned.
    pub content: ResultContent<'c>,
    /// The name of the tool, from the call or the part itself; empty if the format does not require it.
    pub name: &'c str,
    /// Whether the tool failed.
    pub is_error: bool,
    /// All fields of the stored part.
    pub fields: &'c Object,
}
