//! Swim lanes: who sends what, and in which order Valkey serves it. What an actor would send next is a button at the
//! end of its lane; what was served is one in its lane and a block in the server's.
//!
//! One list holds both forms. In a wide element it is a grid of lanes, in a narrow one a timeline with rails; the
//! styles alone tell them apart.

use leptos::prelude::*;

use crate::session::race::Race;
use crate::session::served::{Lane, Served};

pub const STYLE: &str = include_str!("lanes.css");

/// What a reader asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asks {
    /// The actor's next step.
    pub choose: UnsyncCallback<usize>,
    /// To look at the queue after so many steps.
    pub select: UnsyncCallback<usize>,
}

pub fn view(race: RwSignal<Race, LocalStorage>, asks: Asks) -> impl IntoView {
    let lanes = move || race.with(Race::lanes);
    let served = move || race.with(|race| race.served().into_iter().enumerate().collect::<Vec<_>>());
    let steps = move || race.with(|race| race.run().taken.len()).to_string();
    // One more for the choices.
    let columns = move || (race.with(Race::longest) + 1).to_string();
    view! {
        <div class="lanes" part="lanes" style:--steps=steps style:--columns=columns>
            {move || lanes().into_iter().enumerate().map(|(actor, lane)| name(actor, &lane)).collect_view()}
            <p class="lane-name" data-lane="server">"Valkey serves"</p>
            {move || race.with(Race::transition).map(|transition| view! {
                <span
                    class="transition"
                    class:torn=transition.torn
                    style:--from=transition.first.to_string()
                    style:--to=transition.last.to_string()
                    aria-hidden="true"
                ></span>
            })}
            <ol class="served" role="list" aria-label="Steps in the order in which Valkey served them">
                {move || start(race, asks)}
                {move || served().into_iter().map(|(at, served)| step(race, asks, at, served)).collect_view()}
            </ol>
            <div class="choices" role="group" aria-label="Whose step does Valkey serve next?">
                {move || lanes().into_iter().enumerate().map(|(actor, lane)| choice(asks, actor, lane)).collect_view()}
            </div>
        </div>
    }
}

fn name(actor: usize, lane: &Lane) -> impl IntoView + use<> {
    view! {
        <p class="lane-name" data-lane=actor.to_string()>
            <b class="letter">{lane.letter.to_string()}</b>
            {lane.name}
        </p>
    }
}

/// The queue before the first step, to look at like any other.
fn start(race: RwSignal<Race, LocalStorage>, asks: Asks) -> impl IntoView {
    let (place, selected) = race.with(|race| (race.start_place(), race.at() == 0));
    view! {
        <li class="entry">
            <button
                class="start"
                type="button"
                data-at="0"
                aria-current=selected.then_some("step")
                on:click=move |_| asks.select.run(0)
            >
                "the job at start "
                <span class="place">{place}</span>
            </button>
        </li>
    }
}

fn step(race: RwSignal<Race, LocalStorage>, asks: Asks, at: usize, served: Served) -> impl IntoView {
    let number = at + 1;
    let (lane, selected, inside) = race.with(|race| {
        let inside = race.transition().is_some_and(|span| (span.first..=span.last).contains(&at));
        (race.lanes().get(served.actor).copied(), race.at() == number, inside)
    });
    let (letter, actor) = lane.map_or((' ', ""), |lane| (lane.letter, lane.name));
    let label = format!("Step {number}, {actor}: {}", served.label);
    view! {
        <li
            class="entry"
            class:inside=inside
            data-lane=served.actor.to_string()
            style:--at=at.to_string()
        >
            <span class="rail" aria-hidden="true">{letter.to_string()}</span>
            <button
                class="step"
                type="button"
                data-at=number.to_string()
                aria-label=label
                aria-current=selected.then_some("step")
                on:click=move |_| asks.select.run(number)
            >
                {served.label}
            </button>
            <span class="reply">
                <span class="number">{number}</span>
                {served.brief}
            </span>
            <span class="place" class:unlawful=!served.lawful>{served.place}</span>
        </li>
    }
}

/// It stays when the actor has finished, so that the focus does not fall away under a reader's finger.
fn choice(asks: Asks, actor: usize, lane: Lane) -> impl IntoView {
    let label = lane.next.unwrap_or("finished");
    view! {
        <button
            class="choice"
            type="button"
            data-lane=actor.to_string()
            aria-disabled=lane.next.is_none().then_some("true")
            on:click=move |_| asks.choose.run(actor)
        >
            <b class="letter" aria-hidden="true">{lane.letter.to_string()}</b>
            <span class="sr">{lane.name} ": "</span>
            {label}
        </button>
    }
}
