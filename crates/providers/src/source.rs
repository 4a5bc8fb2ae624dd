//! The conversation from which a format writes a request.

use super::media::Media;
use super::part::Tool;
use peteos_json::Object;

/// The separator between the texts of a system prompt in a format that accepts only one text.
pub const BETWEEN_TEXTS: &str = "\n\n";

/// A conversation in the order in which a model reads it.
pub struct Source<'c> {
    /// The texts of the system prompt.
    pub system: Vec<Text<'c>>,
    /// The definitions of the tools.
    pub tools: Vec<Tool<'c>>,
    /// The messages.
    pub turns: Vec<Turn<'c>>,
}

/// The speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The system, between other messages.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The tools, with their results.
    Tools,
}

/// Consecutive parts of one message with the same speaker.
pub struct Turn<'c> {
    /// The speaker.
    pub speaker: Speaker,
    /// The position of the message.
    pub message: usize,
    /// The parts.
    pub parts: Vec<Part<'c>>,
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
    },
    /// An image, a video, audio or a PDF document.
    Media(Media<'c>),
    /// A tool call.
    Call(Call<'c>),
    /// A tool result.
    Result(ToolResult<'c>),
}

/// A text, or the text of thinking.
pub struct Text<'c> {
    /// The text.
    pub text: &'c str,
    /// All fields of the stored part.
    pub fields: &'c Object,
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
    pub content: &'c str,
    /// The name of the tool, from the call or the part itself; empty if the format does not require it.
    pub name: &'c str,
    /// Whether the tool failed.
    pub is_error: bool,
    /// All fields of the stored part.
    pub fields: &'c Object,
}
