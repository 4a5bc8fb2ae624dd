//! The keys of the dict of a context.

pub const MESSAGES: &str = "messages";
pub const ID: &str = "id";
pub const CONTENT_MAP: &str = "content_map";
pub const ANCHOR_POINTS: &str = "anchor_points";
pub const MESSAGE_SEQUENCE: &str = "message_sequence";
pub const MUTATION_COUNTER: &str = "_mutation_counter";
pub const CHILDREN: &str = "children";
pub const ANCHOR_SEQUENCES: &str = "_anchor_sequences";
pub const ORIGIN: &str = "origin_context_id";
pub const PARENT_MUTATION_COUNTER: &str = "parent_mutation_counter";
