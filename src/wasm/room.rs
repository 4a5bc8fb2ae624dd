//! Steps, policies and simulations. They cross as JSON text.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::encodings::{self, Counter};
use super::environment::JsEnvironment;
use super::graphemes::Graphemes;
use super::{in_argument, reports};
use crate::conversation::Context;
use crate::error::Error;
use crate::json::{self, FieldPath};
use crate::room::{Policy, Prices, Simulation, Step, StepReport, StepTools, SummaryRange, summary_prompt};
use crate::tokens::TokenCounter;

/// What steps use, as the module has it.
struct Tools {
    counter: Counter,
    graphemes: Graphemes,
    environment: JsEnvironment,
}

impl Tools {
    /// Must be called before anything is borrowed, because reading a vocabulary runs JavaScript.
    fn new(encoding: &JsValue) -> Result<Self, JsValue> {
        Ok(Self {
            counter: encodings::counter(encoding)?,
            graphemes: Graphemes::new(),
            environment: JsEnvironment::capture()?,
        })
    }

    fn as_tools(&self) -> StepTools<'_> {
        StepTools { counter: &self.counter, graphemes: &self.graphemes, environment: &self.environment }
    }
}

fn parsed(text: &str, argument: &'static str) -> Result<serde_json::Value, Error> {
    json::parse_within(text.as_bytes(), json::MAX_DEPTH, usize::MAX)
        .map_err(|error| in_argument(argument)(error.into()))
}

/// One step as the options of a method, or a policy.
enum Steps {
    One(Step),
    Policy(Policy),
}

impl Steps {
    /// An array is a policy.
    fn read(text: &str) -> Result<Self, Error> {
        if text.starts_with('{') {
            return Ok(Self::One(Step::read(&parsed(text, "options")?, FieldPath::root(), "options")?));
        }
        Ok(Self::Policy(Policy::read(&parsed(text, "policy")?, "policy")?))
    }

    /// The reports of the steps that change something, and those changes as a fork.
    fn fit(&self, context: &mut Context, tools: StepTools) -> Result<Option<(Vec<StepReport>, Context)>, Error> {
        let policy = match self {
            Self::One(step) => {
                let edits = step.edits(context, tools)?;
                return Ok((!edits.is_empty()).then(|| (Vec::new(), edits.fork(context, tools.environment))));
            }
            Self::Policy(policy) => policy,
        };
        let mut fitted = policy.plan(context, tools)?;
        let reports = std::mem::take(&mut fitted.reports);
        Ok(fitted.fork(context, tools.environment).map(|fork| (reports, fork)))
    }
}

#[wasm_bindgen]
impl ContextHandle {
    /// The fork that a step or a policy makes, and the JSON of the reports of a policy; `undefined` if nothing changes.
    pub fn fit(&self, text: &str, encoding: &JsValue) -> Result<Option<Array>, JsValue> {
        let (steps, tools) = (Steps::read(text)?, Tools::new(encoding)?);
        // A policy works in a copy, of which the fork is another.
        self.ensure_copies(2)?;
        let mut reports = Vec::new();
        let child = self.shared().window(|context| {
            let Some((made, fork)) = steps.fit(context, tools.as_tools())? else { return Ok(None) };
            reports = made;
            Ok(Some(fork))
        })?;
        let Some(child) = child else { return Ok(None) };
        let text = reports::text(&reports)?;
        Ok(Some(Array::of2(&Self::from(child).into(), &text.into())))
    }

    /// The JSON of the report of a step, or of the reports of a policy.
    #[wasm_bindgen(js_name = planFit)]
    pub fn plan_fit(&self, text: &str, encoding: &JsValue) -> Result<String, JsValue> {
        let (steps, tools) = (Steps::read(text)?, Tools::new(encoding)?);
        self.ensure_copies(2)?;
        Ok(self.shared().read(|context| match &steps {
            Steps::One(step) => reports::text(&step.plan(context, tools.as_tools())?),
            Steps::Policy(policy) => reports::text(&policy.plan(context, tools.as_tools())?.reports),
        })?)
    }

    /// A prompt that asks for a summary of a range, which is JSON.
    #[wasm_bindgen(js_name = summaryPrompt)]
    pub fn summary_prompt(&self, range: &str) -> Result<String, JsValue> {
        let range = SummaryRange::read(&parsed(range, "range")?, "range")?;
        self.ensure_copies(1)?;
        Ok(self.shared().read(|context| summary_prompt(context, &range))?)
    }

    /// What the conversation would have cost under a policy, as JSON. `prices` is JSON text, and `system` a text that is sent
    /// in front of each request.
    pub fn simulate(&self, policy: &str, prices: &str, system: &str, encoding: &JsValue) -> Result<String, JsValue> {
        let policy = Policy::read(&parsed(policy, "policy")?, "policy")?;
        let prices = Prices::read(&parsed(prices, "options")?, FieldPath::root().key("prices"), "options")?;
        let tools = Tools::new(encoding)?;
        self.ensure_copies(2)?;
        let system_tokens = tools.counter.count(system).map_err(Error::from)?;
        let simulate = |context: &Context| Simulation::run(context, &policy, prices, system_tokens, tools.as_tools());
        Ok(reports::text(&self.shared().read(simulate)?)?)
    }
}
