//! `<emq-rung>`: the rung check, run in this page, line by line.

use leptos::prelude::*;

use crate::element::Host;
use crate::part;
use crate::session::model::Model;
use crate::session::rung::{Check, MARKUP, TITLE};

pub const STYLE: &str = include_str!("rung.css");

pub fn view(host: Host) -> AnyView {
    let check: Box<dyn Model> =
        Box::new(Check::new(|| window().performance().map_or(0.0, |clock| clock.now())));
    let check = RwSignal::new_local(check);
    let teller = host.clone();
    let ask = move |what: &str, value: &str| {
        let told = check.try_update(|check| check.ask(what, value)).unwrap_or_default();
        told.iter().for_each(|told| teller.tell(told));
    };
    ask("again", "");
    let slots = move || check.with(|check| check.slots());
    part::panel(&host, TITLE, MARKUP, slots, Box::new(ask))
}
