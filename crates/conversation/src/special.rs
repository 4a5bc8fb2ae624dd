//! The special messages at the front of a context: the system prompt and the tool definitions.

use crate::anchors::{SYSTEM_PROMPT, TOOLS};

/// The kind of a special message, which every window and fork keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// The message with the system prompt.
    SystemPrompt,
    /// The message that defines the tools.
    ToolDefinitions,
}

impl Special {
    /// Both kinds, in the order of their messages.
    pub const ALL: [Self; 2] = [Self::SystemPrompt, Self::ToolDefinitions];

    /// The role of such a message.
    pub fn role(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system",
            Self::ToolDefinitions => "tool",
        }
    }

    /// The name of the class in the Python package.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::SystemPrompt => "SystemPromptMessage",
            Self::ToolDefinitions => "ToolDefinitionsMessage",
        }
    }

    /// The field of a context that holds the id of this message.
    pub fn id_key(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system_prompt_message_id",
            Self::ToolDefinitions => "tool_definitions_message_id",
        }
    }

    /// The name of the anchor.
    pub fn anchor(self) -> &'static str {
        match self {
            Self::SystemPrompt => SYSTEM_PROMPT,
            Self::ToolDefinitions => TOOLS,
        }
    }

    /// A message is the special one only at a position below this.
    pub fn positions(self) -> usize {
        match self {
            Self::SystemPrompt => 1,
            Self::ToolDefinitions => 2,
        }
    }

    /// Whether a message of this class may be the special one: subclasses of the Python package may, other known classes
    /// may not.
    pub fn may_have_type(self, type_name: &str) -> bool {
        type_name != "Message" && Self::ALL.into_iter().all(|other| other == self || other.type_name() != type_name)
    }
}
