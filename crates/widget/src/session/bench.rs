//! An element that presents tokens, without its view: what a reader asks of it, and what stands in the slots of its
//! markup. `<emq-fence>`, `<emq-complete>` and `<emq-retry>` are three of a kind.

use echomq_core::Script;
use echomq_core::snippet::Language;

use super::model::{Attributes, Detail, Model, Told};
use super::present::{Present, Verb};
use super::scene::{ATTEMPTS, BadAttribute, Scene};
use super::shown::Shown;
use super::stages::{SharedStage, Stages};
use crate::part::{self, Slot, escape};

const BAR: &str = r#"<div part="buttons" role="group" aria-label="Go back">
<button type="button" part="button" data-ask="back" data-slot="back">Step back</button>
<button type="button" part="button" data-ask="reset">Reset</button>
</div>
"#;
const SCENE: &str = r#"{diagram}<div part="controls">{controls}</div>{readout}"#;

/// What one of the elements is.
pub struct Kind {
    /// Its name in the page's address and, unless an attribute names another, of its queue.
    pub key: &'static str,
    pub title: &'static str,
    /// The markup of what a reader chooses from.
    pub controls: &'static str,
    pub script: fn() -> &'static Script,
    pub defaults: fn() -> Scene,
    pub verb: fn(&Scene) -> Verb,
    /// The readout before the first press, from the row's attempts.
    pub initial: fn(&Scene, &str) -> String,
}

pub struct Bench {
    kind: &'static Kind,
    /// The scene that the attributes set, or why they set none.
    base: Result<Scene, BadAttribute>,
    /// The scene as the reader has changed it.
    scene: Scene,
    session: Option<Present>,
    shown: Shown,
    /// What kept a call from its answer; empty when nothing did.
    trouble: String,
    /// The token that is presented.
    token: Option<String>,
    typed: String,
    language: Language,
    /// Counts the acts: an answer that is the same twice is told twice.
    acts: u32,
}

impl Bench {
    pub fn new(kind: &'static Kind, attribute: Attributes<'_>, stages: &Stages) -> Bench {
        let base = Scene::read(attribute, &(kind.defaults)());
        let scene = base.clone().unwrap_or_else(|_| (kind.defaults)());
        let mut bench = Bench {
            kind,
            base,
            scene,
            session: None,
            shown: Shown::default(),
            trouble: String::new(),
            token: None,
            typed: String::new(),
            language: Language::Shell,
            acts: 0,
        };
        if let Err(bad) = &bench.base {
            bench.trouble = bad.to_string();
            return bench;
        }
        match stages.open(attribute("queue"), kind.key, bench.scene.attempts) {
            Ok(stage) => {
                bench.session = Some(Present::on(stage, (kind.verb)(&bench.scene)));
                bench.refresh();
            }
            Err(error) => bench.trouble = error.to_string(),
        }
        bench
    }

    /// The markup whose slots [`Bench::slots`] fills.
    pub fn markup(kind: &Kind) -> String {
        part::frame(kind.title, BAR, SCENE, &[("controls", kind.controls)])
    }

    /// Presents a token.
    fn press(&mut self, token: &str) -> Vec<Told> {
        let verb = (self.kind.verb)(&self.scene);
        let pressed = self.with(|session| {
            session.set_verb(verb);
            session.press(token)
        });
        let Some(readout) = pressed else { return Vec::new() };
        self.show();
        self.token = Some(token.to_owned());
        let detail = vec![
            ("verb", (self.kind.script)().name().into()),
            ("token", token.into()),
            ("answer", readout.answer.as_str().into()),
            ("meaning", readout.meaning.as_str().into()),
        ];
        vec![Told { event: "emq:verdict", detail }, self.stepped()]
    }

    fn step<E: ToString>(&mut self, step: impl FnOnce(&mut Present) -> Result<(), E>) -> Vec<Told> {
        if self.with(step).is_none() {
            return Vec::new();
        }
        self.show();
        // A link to it names no token where none is presented.
        self.token = self.session.as_ref().and_then(|session| session.staged().last()?.arg(2));
        vec![self.stepped()]
    }

    fn stepped(&self) -> Told {
        let step = u32::try_from(self.shown.steps).unwrap_or(u32::MAX);
        Told { event: "emq:step", detail: vec![("step", Detail::Number(step))] }
    }

    fn change(&mut self, field: &str, value: &str) {
        match field {
            "typed" => self.typed = value.to_owned(),
            "max" => self.scene.max = value.to_owned(),
            "delay" => self.scene.delay = value.to_owned(),
            "error" => self.scene.error = value.to_owned(),
            "language" => self.language = part::language_of(value),
            "attempts" => {
                // A number that is half typed sets no scene.
                if let Some(attempts) = value.parse().ok().filter(|number| ATTEMPTS.contains(number)) {
                    self.scene.attempts = attempts;
                    self.set_stage();
                }
            }
            _ => {}
        }
    }

    /// Sets the stage as the scene says.
    fn set_stage(&mut self) {
        let attempts = self.scene.attempts;
        if self.with(|session| session.staged_mut().set_attempts(attempts)).is_some() {
            self.show();
        }
    }

    /// The token that passes: the row's attempts, and before the first claim what the scene asks for.
    fn holder(&self) -> String {
        match &*self.shown.attempts {
            "" | "0" => self.scene.attempts.to_string(),
            attempts => attempts.to_owned(),
        }
    }

    fn show(&mut self) {
        let script = (self.kind.script)();
        if let Some(shown) = self.with(|session| Shown::new(&mut session.staged_mut(), script)) {
            self.shown = shown;
            self.acts = self.acts.wrapping_add(1);
        }
    }

    /// Does something with the session; a wire that brings no reply is told to the reader.
    fn with<T, E: ToString>(&mut self, act: impl FnOnce(&mut Present) -> Result<T, E>) -> Option<T> {
        let done = act(self.session.as_mut()?);
        self.trouble = done.as_ref().err().map(ToString::to_string).unwrap_or_default();
        done.ok()
    }
}

impl Model for Bench {
    fn slots(&self) -> Vec<Slot> {
        let Bench { kind, scene, shown, .. } = self;
        let html = Slot::Html;
        let initial = (kind.initial)(scene, &shown.attempts);
        let state = if self.base.is_ok() { "ready" } else { "broken" };
        let mut slots = part::drawn(shown, &initial, self.language, self.acts);
        slots.extend([
            Slot::Attribute("frame", "data-state", state.to_owned()),
            html("trouble", escape(&self.trouble)),
            Slot::Attribute("back", "aria-disabled", (shown.steps == 0).to_string()),
            html("holder", format!("presents token {}", escape(&self.holder()))),
            html("zombie", format!("presents token {}", escape(&scene.token))),
            Slot::Value("attempts", scene.attempts.to_string()),
            Slot::Value("max", scene.max.clone()),
            Slot::Value("delay", scene.delay.clone()),
            Slot::Value("error", scene.error.clone()),
        ]);
        slots
    }

    fn ask(&mut self, what: &str, value: &str) -> Vec<Told> {
        match what {
            "holder" => self.press(&self.holder()),
            "zombie" => self.press(&self.scene.token.clone()),
            "any" => self.press(&self.typed.clone()),
            "back" => self.step(|session| session.staged_mut().back().map(drop)),
            "reset" => self.step(|session| session.staged_mut().reset()),
            _ => {
                self.change(what, value);
                Vec::new()
            }
        }
    }

    /// A scene, and the token presented in it.
    fn open(&mut self, values: &[(String, String)]) {
        let Ok(base) = &self.base else { return };
        match base.with(values) {
            Ok(scene) if scene != self.scene => {
                self.scene = scene;
                self.set_stage();
            }
            Ok(_) => {}
            // A link that somebody changed may name a scene that cannot be set.
            Err(bad) => {
                self.trouble = bad.to_string();
                return;
            }
        }
        if let Some((_, token)) = values.iter().find(|(name, _)| name == "token") {
            self.press(token);
        }
    }

    fn link(&self) -> Vec<(&'static str, String)> {
        let token = self.token.iter().map(|token| ("token", token.clone()));
        token.chain(self.base.iter().flat_map(|base| self.scene.changes(base))).collect()
    }

    fn stage(&self) -> Option<&SharedStage> {
        self.session.as_ref().map(Present::stage)
    }

    fn start(&mut self) {
        if let Ok(base) = &self.base {
            self.scene = base.clone();
            self.set_stage();
        }
    }

    fn refresh(&mut self) {
        let attempts = self.session.as_ref().map_or(0, |session| session.staged().attempts());
        if attempts > 0 {
            self.scene.attempts = attempts;
        }
        self.show();
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("key", &self.key).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench")
            .field("scene", &self.scene)
            .field("steps", &self.shown.steps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Bench;
    use crate::part::Slot;
    use crate::session::kind::ALL;
    use crate::session::model::{Detail, Model as _};
    use crate::session::stages::Stages;

    fn bench(kind: &'static super::Kind) -> Bench {
        Bench::new(kind, &|_| None, &Stages::default())
    }

    fn html(bench: &Bench, name: &str) -> String {
        let named = |slot| match slot {
            Slot::Html(slot, html) if slot == name => Some(html),
            _ => None,
        };
        bench.slots().into_iter().find_map(named).unwrap()
    }

    #[test]
    fn markup_has_the_slots_and_the_asks_that_it_needs() {
        for kind in ALL {
            let markup = Bench::markup(kind);
            assert!(!markup.contains('{') && !markup.contains("style="), "{markup}");
            for slot in bench(kind).slots() {
                let (name, optional) = match &slot {
                    Slot::Html(name, _) | Slot::Attribute(name, ..) => (name, false),
                    Slot::Value(name, _) => (name, true),
                };
                // The frame is the view's own.
                let there = *name == "frame" || markup.contains(&format!("data-slot=\"{name}\""));
                assert!(there || optional, "{} has no slot {name}", kind.key);
            }
            for ask in ["holder", "zombie", "back", "reset"] {
                assert!(markup.contains(&format!("data-ask=\"{ask}\"")), "{} has no {ask}", kind.key);
            }
        }
    }

    #[test]
    fn each_press_is_told_and_can_be_taken_back() {
        for kind in ALL {
            let mut bench = bench(kind);
            let told = bench.ask("zombie", "");
            let events: Vec<_> = told.iter().map(|told| told.event).collect();
            assert_eq!(events, ["emq:verdict", "emq:step"]);
            let token = (kind.defaults)().token;
            assert_eq!(told[0].detail[1], ("token", Detail::Text(token.clone())));
            assert_eq!(bench.link(), [("token", token)]);
            let first = html(&bench, "readout");
            bench.ask("back", "");
            assert!(html(&bench, "readout").contains("initial"));
            bench.ask("zombie", "");
            assert_ne!(html(&bench, "readout"), first, "the same answer is told again");
            bench.ask("holder", "");
            assert!(html(&bench, "keys").contains("removed"));
            assert_eq!(bench.ask("reset", "")[0].detail, [("step", Detail::Number(0))]);
            assert!(!html(&bench, "keys").contains("removed"));
            assert_eq!(bench.link(), []);
        }
    }

    #[test]
    fn a_bad_attribute_is_told_and_nothing_can_be_pressed() {
        let mut bench =
            Bench::new(ALL[0], &|name| (name == "attempts").then(|| "two".to_owned()), &Stages::default());
        assert_eq!(html(&bench, "trouble"), "attempts=&quot;two&quot; is not a whole number from 1 to 99.");
        for ask in ["holder", "zombie", "any", "back", "reset", "nonsense"] {
            assert_eq!(bench.ask(ask, "1"), []);
        }
        bench.open(&[("token".to_owned(), "1".to_owned())]);
        assert!(html(&bench, "readout").contains("initial"));
        let bench =
            Bench::new(ALL[0], &|name| (name == "queue").then(|| "a}b".to_owned()), &Stages::default());
        assert!(!html(&bench, "trouble").is_empty());
    }

    #[test]
    fn a_link_opens_the_scene_with_its_token() {
        let mut first = bench(ALL[2]);
        first.ask("attempts", "2");
        first.ask("attempts", "");
        first.ask("error", "<no>");
        first.ask("holder", "");
        let link: Vec<_> = first.link().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut second = bench(ALL[2]);
        second.open(&link);
        assert_eq!(html(&second, "keys"), html(&first, "keys"));
        assert!(html(&second, "keys").contains("&lt;no&gt;"));
    }
}
