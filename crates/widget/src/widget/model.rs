//! The view of the elements that are a [`Model`]: it carries what a reader asks to the model, and what the model tells
//! to the page.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use super::link::Link;
use crate::element::{Host, follow};
use crate::part;
use crate::session::model::{Attributes, Model};
use crate::session::stages::Stages;

/// What one of the elements is.
pub struct Kind {
    /// Its name in the page's address and, unless an attribute names another, of its queue.
    pub key: &'static str,
    pub title: &'static str,
    /// The attributes that set its scene.
    pub attributes: &'static [&'static str],
    pub make: Make,
}

/// A model with its markup, made of the element's attributes; or why there is none.
type Make = fn(Attributes<'_>, &Stages) -> Result<(Box<dyn Model>, String), String>;

thread_local! {
    static STAGES: Stages = Stages::default();
    /// The elements in the page.
    static VIEWS: RefCell<Vec<View>> = const { RefCell::new(Vec::new()) };
}

/// One element. Copies are the same one.
#[derive(Clone, Copy)]
struct View {
    kind: &'static Kind,
    model: RwSignal<Box<dyn Model>, LocalStorage>,
    host: StoredValue<Host, LocalStorage>,
    link: Link,
    beat: StoredValue<Option<TimeoutHandle>, LocalStorage>,
}

pub fn view(host: Host, kind: &'static Kind) -> AnyView {
    let (model, markup) =
        match STAGES.with(|stages| (kind.make)(&|name| host.element.get_attribute(name), stages)) {
            Ok(made) => made,
            Err(why) => return part::problem(&why),
        };
    let host = StoredValue::new_local(host);
    let link = Link::new(host, kind.key);
    let model = RwSignal::new_local(model);
    let view = View { kind, model, host, link, beat: StoredValue::new_local(None) };
    VIEWS.with_borrow_mut(|views| views.push(view));
    link.follow(move |values| {
        model.update(|model| model.open(&values));
        view.acted();
    });
    view.follow_attributes();
    on_cleanup(move || {
        view.stop();
        VIEWS.with_borrow_mut(|views| views.retain(|other| other.model != model));
    });
    let slots = move || model.with(|model| model.slots());
    let ask = Box::new(move |what: &str, value: &str| view.ask(what, value));
    host.with_value(|host| part::panel(host, kind.title, &markup, slots, ask))
}

impl View {
    fn ask(self, what: &str, value: &str) {
        let told = self.model.try_update(|model| model.ask(what, value)).unwrap_or_default();
        self.acted();
        if told.is_empty() {
            return;
        }
        self.host.with_value(|host| told.iter().for_each(|told| host.tell(told)));
        let link = self.model.with_untracked(|model| model.link());
        self.link.write(&link.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>());
    }

    /// The other elements of its queue show what it did, and it goes on if it plays by itself.
    fn acted(self) {
        let stage = self.model.with_untracked(|model| model.stage().map(Rc::clone));
        for view in VIEWS.with_borrow(Clone::clone) {
            let shows = |model: &dyn Model| {
                view.model != self.model
                    && model.stage().zip(stage.as_ref()).is_some_and(|(own, stage)| Rc::ptr_eq(own, stage))
            };
            if view.model.with_untracked(|model| shows(&**model)) {
                view.model.update(|model| model.refresh());
            }
        }
        self.wait();
    }

    /// A model that plays by itself is asked to go on when its time has come.
    fn wait(self) {
        self.stop();
        let beat_ms = self.model.with_untracked(|model| model.beat_ms());
        let beat = move || self.ask("beat", "");
        // Without a timer it stands still until the reader goes on.
        let handle = beat_ms.and_then(|ms| set_timeout_with_handle(beat, Duration::from_millis(ms)).ok());
        self.beat.set_value(handle);
    }

    fn stop(self) {
        if let Some(handle) = self.beat.try_update_value(Option::take).flatten() {
            handle.clear();
        }
    }

    /// A page that changes an attribute sets a new scene.
    fn follow_attributes(self) {
        let mut last = None;
        follow(Box::new(move || {
            let attribute = |name| self.host.with_value(|host| host.attribute(name));
            let now: Vec<_> = self.kind.attributes.iter().map(|name| attribute(name)).collect();
            let changed = last.as_ref().is_some_and(|last| *last != now);
            last = Some(now);
            if changed
                && let Ok((mut model, _)) =
                    untrack(|| STAGES.with(|stages| (self.kind.make)(&|name| attribute(name), stages)))
            {
                model.start();
                self.model.set(model);
                self.acted();
            }
        }));
    }
}
