//! Forks: new contexts with some of the messages of another.

use std::collections::HashSet;

use serde_json::Value;

use crate::anchors::{AnchorOwners, MESSAGES, SYSTEM_PROMPT, TOOLS};
use crate::context::Context;
use crate::environment::Environment;
use crate::file_size::FileSize;
use crate::message::Message;
use crate::order;
use crate::special::Special;

/// A range of sequence numbers with the semantics of a Python slice: `end` is exclusive, a negative number counts back from
/// the next sequence number, and an absent one stands for the first or the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct SequenceRange {
    /// The first sequence number of the range.
    pub start: Option<i64>,
    /// The sequence number after the last of the range.
    pub end: Option<i64>,
}

/// The options of a fork.
#[derive(Default)]
pub struct ForkOptions {
    /// The messages and anchors that the fork takes over.
    pub range: SequenceRange,
    /// Replaces the system prompt.
    pub system_prompt: Option<Message>,
    /// Replaces the tool definitions.
    pub tool_definitions: Option<Message>,
}

/// What becomes of a message.
#[derive(Clone, Debug)]
pub enum Edit {
    /// It stays.
    Keep,
    /// It gets other content.
    Replace(Box<Message>),
    /// It is left out.
    Drop,
}

impl SequenceRange {
    fn is_whole(self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Both ends as sequence numbers of a context whose next one is `next`.
    fn resolve(self, next: u64) -> std::ops::Range<i64> {
        let next = i64::try_from(next).unwrap_or(i64::MAX);
        let from_end = |bound: i64| if bound < 0 { next.saturating_add(bound) } else { bound };
        self.start.map_or(0, from_end)..self.end.map_or(next, from_end)
    }
}

impl Context {
    /// A fork with the messages and anchors whose sequence numbers are in the range, and the special messages. The
    /// fork's id is added to the `children`.
    pub fn fork(&mut self, options: ForkOptions, environment: &dyn Environment) -> Context {
        let range = options.range.resolve(self.mutation_counter());
        // A message without a sequence number is only part of a range over everything.
        let in_range = |message: &Message| {
            message.sequence().map_or(options.range.is_whole(), |sequence| range.contains(&sequence))
        };
        let specials = self.special_positions();
        let mut anchors = self.anchors_created_in(&range);
        let mut owners = AnchorOwners::new(&self.anchors);
        let mut messages = Vec::new();
        for (position, message) in self.messages().enumerate() {
            let selected = in_range(message);
            if selected {
                // Includes the number of a special message that is replaced.
                anchors.extend(owners.owner_of(position as u64).map(|owner| self.anchors.0[owner].name.clone()));
            }
            if selected || specials.contains(&position) {
                messages.push((position, message.clone()));
            }
        }
        let replacements = [options.system_prompt, options.tool_definitions];
        self.fork_of(messages, anchors, replacements, environment)
    }

    /// A fork with the messages at these positions and the special messages, for windows.
    pub fn fork_positions(&mut self, positions: &[usize], environment: &dyn Environment) -> Context {
        let mut positions: Vec<usize> = positions.iter().copied().chain(self.special_positions()).collect();
        order::sort(&mut positions);
        positions.dedup();
        let message = |position| self.message(position).map(|message| (position, message.clone()));
        let messages = positions.into_iter().filter_map(message).collect();
        self.fork_of(messages, HashSet::new(), [None, None], environment)
    }

    /// A fork without `thinking` parts. Messages with no other part are left out.
    pub fn strip_thinking(&mut self, environment: &dyn Environment) -> Context {
        let edit = |message: &Message| {
            message.without_thinking().map_or(Edit::Drop, |stripped| Edit::Replace(Box::new(stripped)))
        };
        let mut edits = self.messages().map(edit).collect::<Vec<Edit>>().into_iter();
        self.fork_edited(&mut |_| edits.next().unwrap_or(Edit::Keep), environment)
    }

    /// A fork with all anchors and an edit of the message at each position.
    pub fn fork_edited(&mut self, edit: &mut dyn FnMut(usize) -> Edit, environment: &dyn Environment) -> Context {
        let mut added = FileSize::default();
        let edited = |(position, message): (usize, &Message)| match edit(position) {
            Edit::Keep => Some((position, message.clone())),
            Edit::Replace(edited) => {
                added.add_message(&edited);
                Some((position, *edited))
            }
            Edit::Drop => None,
        };
        let messages = self.messages().enumerate().filter_map(edited).collect();
        let mut anchors = self.anchors_created_in(&SequenceRange::default().resolve(self.mutation_counter()));
        let mut owners = AnchorOwners::new(&self.anchors);
        let all = (0..self.messages().len() as u64).filter_map(|position| owners.owner_of(position));
        anchors.extend(all.map(|anchor| self.anchors.0[anchor].name.clone()));
        let mut child = self.fork_of(messages, anchors, [None, None], environment);
        child.file_size.add_all_of(added);
        child
    }

    /// Edits the message at each position. An edited message keeps its place among the sequence numbers.
    pub fn edit_in_place(&mut self, edit: &mut dyn FnMut(usize) -> Edit) {
        let mut kept = Vec::with_capacity(self.messages.len());
        // For each position, how many of the messages before it are left out.
        let mut dropped = vec![0u64];
        for (position, mut stored) in std::mem::take(&mut self.messages).into_iter().enumerate() {
            let before = dropped[position];
            match edit(position) {
                Edit::Keep => kept.push(stored),
                Edit::Replace(edited) => {
                    stored.message = *edited;
                    stored.key = self.new_key();
                    kept.push(stored);
                }
                Edit::Drop => {
                    dropped.push(before + 1);
                    continue;
                }
            }
            dropped.push(before);
        }
        self.messages = kept;
        for anchor in &mut self.anchors.0 {
            let before = usize::try_from(anchor.index).ok().and_then(|index| dropped.get(index)).or(dropped.last());
            anchor.index = anchor.index.saturating_sub(before.copied().unwrap_or(0));
        }
        self.touch();
    }

    /// The names of the anchors that were created in this range of sequence numbers.
    fn anchors_created_in(&self, range: &std::ops::Range<i64>) -> HashSet<String> {
        // As in the Python package, the sequence numbers, which are in order of creation, are matched one by one with the
        // anchors, which are in order of position.
        let anchors = self.anchors.0.iter().zip(&self.anchor_sequences);
        let created = anchors.filter(|(_, sequence)| i64::try_from(**sequence).is_ok_and(|at| range.contains(&at)));
        created.map(|(anchor, _)| anchor.name.clone()).collect()
    }

    fn special_positions(&self) -> Vec<usize> {
        self.specials().into_iter().flatten().collect()
    }

    /// Makes a fork from messages with their positions in this context, in ascending order. Each message goes to the anchor
    /// that owns it. The fork has the three default anchors, the owners and the named ones, in the order of this context.
    fn fork_of(
        &mut self,
        mut messages: Vec<(usize, Message)>,
        mut anchors: HashSet<String>,
        replacements: [Option<Message>; 2],
        environment: &dyn Environment,
    ) -> Context {
        let mut child = Context::bare(Some(self), environment);
        child.file_size.add_all_of(self.file_size);
        let mut replaced = Vec::new();
        for (kind, replacement) in Special::ALL.into_iter().zip(replacements) {
            let position = self.special(kind);
            let current = position.and_then(|position| self.message(position));
            // The same message is not a replacement.
            let replacement = replacement.filter(|new| !current.is_some_and(|current| current.is_shown_as(new)));
            if replacement.is_some() {
                messages.retain(|(other, _)| Some(*other) != position);
            }
            let kept = messages.iter().find(|(other, _)| Some(*other) == position).map(|(_, message)| message);
            let id = kept.map_or(Value::Null, |message| message.id().into());
            child.fields.insert(kind.id_key().to_owned(), id);
            replaced.extend(replacement.map(|message| (kind, message)));
        }

        let mut owners = AnchorOwners::new(&self.anchors);
        let placed: Vec<(Option<usize>, Message)> =
            messages.into_iter().map(|(position, message)| (owners.owner_of(position as u64), message)).collect();
        anchors.extend([SYSTEM_PROMPT, TOOLS, MESSAGES].map(str::to_owned));
        anchors.extend(placed.iter().filter_map(|(owner, _)| owner.map(|owner| self.anchors.0[owner].name.clone())));

        // For each anchor of this context, how many of the fork's anchors precede it.
        let mut rank = Vec::with_capacity(self.anchors.0.len());
        for anchor in &self.anchors.0 {
            rank.push(child.anchors.0.len());
            if anchors.contains(&anchor.name) {
                child.push_anchor(&anchor.name, 0);
            }
        }
        if self.anchors.0.is_empty() {
            for name in [SYSTEM_PROMPT, TOOLS, MESSAGES] {
                child.push_anchor(name, 0);
            }
        }
        let last = child.anchors.0.len().saturating_sub(1);
        for (owner, message) in placed {
            let owner = owner.map_or(last, |owner| rank[owner]);
            child.anchors.0[owner].index += 1;
            child.push_message(message);
        }
        // So far, each anchor has the number of messages in its own partition; an index includes those before it.
        let mut end = 0;
        for anchor in &mut child.anchors.0 {
            end += anchor.index;
            anchor.index = end;
        }
        for (kind, message) in replaced {
            child.set_special(kind, message);
        }
        self.add_child(child.id());
        child
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::environment::fixed::Fixed;

    fn message(text: &str, environment: &Fixed) -> Message {
        let value = json!({"role": "user", "id": text, "content": [{"type": "text", "text": text}]});
        Message::given(value, environment).unwrap()
    }

    fn ids(context: &Context) -> Vec<&str> {
        context.messages().map(Message::id).collect()
    }

    fn points(context: &Context) -> Vec<(&str, u64)> {
        context.anchors().iter().map(|anchor| (anchor.name.as_str(), anchor.index)).collect()
    }

    fn special(kind: Special, id: &str, environment: &Fixed) -> Message {
        let content = json!([{"type": "text", "text": id}]);
        Message::given_special(kind, json!({"id": id, "content": content}), environment).unwrap()
    }

    /// A system prompt, three messages, and one at an anchor in front of the second.
    fn sample(environment: &Fixed) -> Context {
        let system = special(Special::SystemPrompt, "system", environment);
        let mut context = Context::create(Some(system), None, None, environment);
        for text in ["a", "b", "c"] {
            context.append(message(text, environment), MESSAGES).unwrap();
        }
        context.add_anchor("notes", 2, true).unwrap();
        context.append(message("note", environment), "notes").unwrap();
        context
    }

    #[test]
    fn messages_keep_their_order_and_owner() {
        let environment = Fixed::default();
        let mut context = sample(&environment);
        assert_eq!(ids(&context), ["system", "a", "note", "b", "c"]);
        let child = context.fork(ForkOptions::default(), &environment);
        assert_eq!(ids(&child), ids(&context));
        assert_eq!(points(&child), points(&context));
        assert_eq!(child.messages().map(|message| message.sequence()).collect::<Vec<_>>(), [4, 5, 6, 7, 8].map(Some));
        assert_eq!(child.mutation_counter(), 9);
        assert_eq!(context.children().collect::<Vec<_>>(), [child.id().as_str()]);
        assert_eq!(child.origin(), Some(context.id().as_str()));
    }

    #[test]
    fn a_range_selects_by_sequence_number() {
        let environment = Fixed::default();
        let mut context = sample(&environment);
        let mut fork = |start, end| {
            let range = SequenceRange { start, end };
            let child = context.fork(ForkOptions { range, ..Default::default() }, &environment);
            ids(&child).join(" ")
        };
        // The system prompt is 3, a b c are 4 5 6, the anchor is 7, the note is 8.
        assert_eq!(fork(Some(5), Some(7)), "system b c");
        assert_eq!(fork(Some(-1), None), "system note");
        assert_eq!(fork(None, Some(-4)), "system a");
        assert_eq!(fork(Some(100), None), "system");
    }

    #[test]
    fn replacements_take_the_place_and_come_last() {
        let environment = Fixed::default();
        let mut context = sample(&environment);
        let options = ForkOptions {
            system_prompt: Some(special(Special::SystemPrompt, "new", &environment)),
            tool_definitions: Some(special(Special::ToolDefinitions, "tools", &environment)),
            ..Default::default()
        };
        let child = context.fork(options, &environment);
        assert_eq!(ids(&child), ["new", "tools", "a", "note", "b", "c"]);
        assert_eq!(child.specials(), [Some(0), Some(1)]);
        assert_eq!(child.message(0).unwrap().sequence(), Some(8));
        let same = ForkOptions { system_prompt: context.message(0).cloned(), ..Default::default() };
        assert_eq!(context.fork(same, &environment).message(0).unwrap().sequence(), Some(4));
    }

    #[test]
    fn the_newest_come_first_wherever_they_stand() {
        let environment = Fixed::default();
        let by_age = |context: &Context| {
            let specials = context.specials();
            let others = (0..context.messages().len()).filter(|at| !specials.contains(&Some(*at)));
            let mut positions: Vec<usize> = others.collect();
            positions.sort_by_key(|at| std::cmp::Reverse(context.message(*at).unwrap().sequence()));
            positions
        };
        let mut context = Context::create(None, None, None, &environment);
        for (text, anchor) in [("in front", SYSTEM_PROMPT), ("a", MESSAGES), ("tool", TOOLS), ("b", MESSAGES)] {
            context.append(message(text, &environment), anchor).unwrap();
            assert_eq!(context.newest_first().collect::<Vec<_>>(), by_age(&context), "{text}");
        }
        // A message that follows an ordinary one is not special.
        let system_prompt = Some(special(Special::SystemPrompt, "new", &environment));
        let mut child = context.fork(ForkOptions { system_prompt, ..Default::default() }, &environment);
        assert_eq!(child.specials(), [None, None]);
        assert_eq!(child.newest_first().collect::<Vec<_>>(), by_age(&child));
        let grandchild = child.fork(ForkOptions::default(), &environment);
        assert_eq!(grandchild.newest_first().collect::<Vec<_>>(), by_age(&grandchild));
    }

    #[test]
    fn stripped_contexts_fit_their_anchors() {
        let environment = Fixed::default();
        let mut context = sample(&environment);
        let thought = json!({"role": "assistant", "content": [{"type": "thinking", "text": "x"}]});
        context.append(Message::given(thought, &environment).unwrap(), "notes").unwrap();
        let child = context.strip_thinking(&environment);
        assert_eq!(ids(&child), ["system", "a", "note", "b", "c"]);
        assert_eq!(points(&child), [("system_prompt", 1), ("tools", 1), ("notes", 3), ("messages", 5)]);
        assert_eq!(child.specials(), [Some(0), None]);
    }

    #[test]
    fn a_context_without_anchors_forks_too() {
        let environment = Fixed::default();
        let dict = json!({"messages": [{"id": "a"}, {"id": "b"}], "anchor_points": []});
        let mut context = Context::from_dict(dict, None, &environment).unwrap();
        let child = context.fork_positions(&[1], &environment);
        assert_eq!(ids(&child), ["b"]);
        assert_eq!(points(&child), [("system_prompt", 0), ("tools", 0), ("messages", 1)]);
    }
}
