//! The system prompt and the tool definitions, which stand at the front of a context.

use super::anchors::{SYSTEM_PROMPT, TOOLS};

/// The two messages that every window and fork keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The message with the system prompt.
    SystemPrompt,
    /// The message that defines the tools.
    ToolDefinitions,
}

impl Special {
    /// Both, in the order in which they stand.
    pub const ALL: [Self; 2] = [Self::SystemPrompt, Self::ToolDefinitions];

    /// The role that such a message has.
    pub fn role(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system",
            Self::ToolDefinitions => "tool",
        }
    }

    /// The name of its class in the Python package.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::SystemPrompt => "SystemPromptMessage",
            Self::ToolDefinitions => "ToolDefinitionsMessage",
        }
    }

    /// The field of a context that holds the id of this message.
    pub(crate) fn id_key(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system_prompt_message_id",
            Self::ToolDefinitions => "tool_definitions_message_id",
        }
    }

    /// The name of its anchor.
    pub(crate) fn anchor(self) -> &'static str {
        match self {
            Self::SystemPrompt => SYSTEM_PROMPT,
            Self::ToolDefinitions => TOOLS,
        }
    }

    /// It is the special one only at a position below this.
    pub(crate) fn positions(self) -> usize {
        match self {
            Self::SystemPrompt => 1,
            Self::ToolDefinitions => 2,
        }
    }

    /// A subclass of the Python package may stand for it, the other classes known here may not.
    pub(crate) fn may_have_type(self, type_name: &str) -> bool {
        type_name != "Message" && Self::ALL.into_iter().all(|other| other == self || other.type_name() != type_name)
    }
}
