//! The keys of the dict of a context.

/// The messages in display order.
pub const MESSAGES: &str = "messages";
/// The id.
pub const ID: &str = "id";
/// Texts by their SHA-256.
pub const CONTENT_MAP: &str = "content_map";
/// The anchors: pairs of a name and an index.
pub const ANCHOR_POINTS: &str = "anchor_points";
/// How many messages were appended.
pub const MESSAGE_SEQUENCE: &str = "message_sequence";
/// The next sequence number.
pub const MUTATION_COUNTER: &str = "_mutation_counter";
/// The ids of the forks.
pub const CHILDREN: &str = "children";
/// The sequence numbers of the anchors, in order of creation.
pub const ANCHOR_SEQUENCES: &str = "_anchor_sequences";
/// The id of the context that this one was forked from.
pub const ORIGIN: &str = "origin_context_id";
/// The mutation counter of the origin at the fork, which is always 0.
pub const PARENT_MUTATION_COUNTER: &str = "parent_mutation_counter";
