//! A policy: steps that are taken in order until a budget holds.

use serde_json::Value;

use super::edits::{Edits, StepReport};
use super::step::{Step, StepKind, StepTools};
use crate::conversation::shape::wrong;
use crate::conversation::{Context, Edit, Message};
use crate::environment::Environment;
use crate::error::{Error, ShapeError};
use crate::json::FieldPath;

/// Steps in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct Policy(Vec<Step>);

/// What a policy does to a context.
pub struct Fitted {
    /// The message at each position of the context, as the policy leaves it; `None` if nothing changes.
    messages: Option<Vec<Edit>>,
    /// A report for each step that was taken.
    pub reports: Vec<StepReport>,
}

impl Policy {
    /// Reads a policy: an array of steps. `argument` is the name of the value in errors.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for what is not a policy; it names the path of the field.
    pub fn read(value: &Value, argument: &'static str) -> Result<Self, Error> {
        let root = FieldPath::root();
        let Value::Array(steps) = value else {
            return Err(wrong(&root, "an array of steps", value).in_argument(argument).into());
        };
        let steps = steps.iter().enumerate();
        let read = |(index, step): (usize, &Value)| {
            if step["type"] == StepKind::Summarize.name() {
                let message = "a summary is about certain messages, so it is no step of a policy; call summarize";
                return Err(ShapeError::new(root.index(index).key("type"), message).in_argument(argument).into());
            }
            Step::read(step, root.index(index), argument)
        };
        Ok(Self(steps.map(read).collect::<Result<_, Error>>()?))
    }

    /// What the policy does to a context. A step before a window is only taken if the limit of that window does not hold;
    /// steps after the last window always are.
    ///
    /// # Errors
    ///
    /// Those of [`Step::edits`].
    pub fn plan(&self, context: &Context, tools: StepTools) -> Result<Fitted, Error> {
        let mut work = Work::new(context);
        let reports = self.run(&mut work, tools, &mut |step, context, edits| {
            StepReport::new(step.kind(), context, edits, tools.counter)
        })?;
        Ok(Fitted { messages: work.into_edits(), reports })
    }

    /// Takes the steps in a working copy. `report` is called before the edits of each step are made.
    pub(super) fn run<T>(
        &self,
        work: &mut Work,
        tools: StepTools,
        report: &mut dyn FnMut(&Step, &Context, &Edits) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut reports = Vec::new();
        for (index, step) in self.0.iter().enumerate() {
            // The next window, this step included, tells whether there is anything to do.
            let next = self.0.iter().skip(index).find_map(|step| step.holds(&work.context, tools.counter).transpose());
            if next.transpose()? == Some(true) {
                continue;
            }
            let edits = step.edits(&work.context, tools)?;
            if !edits.is_empty() {
                reports.push(report(step, &work.context, &edits)?);
                work.apply(edits);
            }
        }
        Ok(reports)
    }
}

impl Fitted {
    /// A fork of the context with the changes; `None` if nothing changes.
    pub fn fork(self, context: &mut Context, environment: &dyn Environment) -> Option<Context> {
        let mut edits = self.messages?.into_iter();
        Some(context.fork_edited(&mut |_| edits.next().unwrap_or(Edit::Keep), environment))
    }
}

/// A copy of a context in which steps are taken, and where each of its messages comes from.
pub(super) struct Work {
    pub context: Context,
    /// The key that each message of the original has in the copy.
    keys: Vec<u64>,
    /// For each message of the copy, its position in the original.
    origins: Vec<usize>,
}

impl Work {
    fn new(context: &Context) -> Self {
        Self {
            context: context.clone(),
            keys: context.message_keys().collect(),
            origins: (0..context.messages().len()).collect(),
        }
    }

    /// A copy that holds a context that grows.
    pub fn growing(context: Context) -> Self {
        Self { context, keys: Vec::new(), origins: Vec::new() }
    }

    fn apply(&mut self, edits: Edits) {
        let mut position = 0;
        self.origins.retain(|_| {
            position += 1;
            !edits.drops(position - 1)
        });
        edits.apply(&mut self.context);
    }

    /// The edits of the original that have the same result; `None` if nothing changed.
    fn into_edits(self) -> Option<Vec<Edit>> {
        let mut edits = vec![Edit::Drop; self.keys.len()];
        let messages = self.context.messages().zip(self.context.message_keys());
        let mut is_changed = self.origins.len() != self.keys.len();
        for (origin, (message, key)) in self.origins.iter().zip(messages) {
            if let (Some(edit), Some(before)) = (edits.get_mut(*origin), self.keys.get(*origin)) {
                *edit = if *before == key { Edit::Keep } else { Edit::Replace(Box::new(Message::clone(message))) };
                is_changed |= *before != key;
            }
        }
        is_changed.then_some(edits)
    }
}
