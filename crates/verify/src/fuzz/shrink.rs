//! Makes a dialogue that differs smaller as long as it differs.

use echomq_core::WireError;

use super::dialogue::{Dialogue, Generator, KEPT_WHOLE, Line};
use super::pair::Pair;

/// Shrinking stops after so many tries, wherever it is.
const TRIES: usize = 4_000;

/// A dialogue that differs and from which nothing more can be left out, or the one given where it does not differ.
///
/// # Errors
/// When the server does not answer.
pub fn shrink(pair: &mut Pair, generator: &Generator, dialogue: &Dialogue) -> Result<Dialogue, WireError> {
    let mut shrinking = Shrinking { pair, generator, best: dialogue.clone(), tries: 0, error: None };
    shrinking.truncate();
    let mut size = usize::MAX;
    while shrinking.size() < size && shrinking.tries < TRIES {
        size = shrinking.size();
        shrinking.leave_out_steps();
        shrinking.simplify_protocol();
        shrinking.shrink_lines();
        shrinking.shrink_words();
        shrinking.truncate();
    }
    match shrinking.error {
        Some(error) => Err(error),
        None => Ok(shrinking.best),
    }
}

struct Shrinking<'a> {
    pair: &'a mut Pair,
    generator: &'a Generator,
    best: Dialogue,
    tries: usize,
    error: Option<WireError>,
}

impl Shrinking<'_> {
    /// Bytes of all words: what a reader has to read.
    fn size(&self) -> usize {
        let words = self.best.steps.iter().flat_map(|step| self.generator.argv(&step.line));
        words.map(|word| word.len() + 1).sum()
    }

    fn differs(&mut self, dialogue: &Dialogue) -> bool {
        if self.error.is_some() || self.tries >= TRIES {
            return false;
        }
        self.tries += 1;
        self.pair.differs(self.generator, dialogue).unwrap_or_else(|error| {
            self.error = Some(error);
            false
        })
    }

    fn keep_if_it_differs(&mut self, dialogue: Dialogue) -> bool {
        let differs = self.differs(&dialogue);
        if differs {
            self.best = dialogue;
        }
        differs
    }

    /// What comes after the first difference says nothing.
    fn truncate(&mut self) {
        let answers = self.pair.run(self.generator, std::slice::from_ref(&self.best));
        let at = answers.ok().and_then(|answers| answers.first().and_then(|answers| answers.differs_at));
        if let Some(at) = at {
            let mut shorter = self.best.clone();
            shorter.steps.truncate(at + 1);
            self.keep_if_it_differs(shorter);
        }
    }

    /// Half of the steps, then quarters, down to single ones.
    fn leave_out_steps(&mut self) {
        let mut chunk = self.best.steps.len().div_ceil(2);
        while chunk > 0 {
            let mut from = 0;
            while from < self.best.steps.len() {
                let mut shorter = self.best.clone();
                shorter.steps.drain(from..(from + chunk).min(shorter.steps.len()));
                if !self.keep_if_it_differs(shorter) {
                    from += chunk;
                }
            }
            chunk /= 2;
        }
    }

    fn simplify_protocol(&mut self) {
        if self.best.protocol != 2 {
            self.keep_if_it_differs(Dialogue { protocol: 2, ..self.best.clone() });
        }
        for at in 0..self.best.steps.len() {
            if self.best.steps[at].client != 0 {
                let mut simpler = self.best.clone();
                simpler.steps[at].client = 0;
                self.keep_if_it_differs(simpler);
            }
        }
    }

    fn shrink_lines(&mut self) {
        for at in 0..self.best.steps.len() {
            let mut line = self.best.steps[at].line.clone();
            let generator = self.generator;
            while let Some(smaller) = generator.smaller(&line, &mut |line| self.try_line(at, line)) {
                line = smaller;
            }
        }
    }

    fn try_line(&mut self, at: usize, line: Line) -> bool {
        let mut smaller = self.best.clone();
        smaller.steps[at].line = line;
        self.keep_if_it_differs(smaller)
    }

    /// Words that the grammar would not leave out, and long ones; scripts keep theirs.
    fn shrink_words(&mut self) {
        for at in 0..self.best.steps.len() {
            let argv = self.generator.argv(&self.best.steps[at].line);
            let is_kept = argv
                .first()
                .is_some_and(|name| KEPT_WHOLE.iter().any(|kept| name.eq_ignore_ascii_case(kept)));
            if is_kept {
                continue;
            }
            let mut word = 1;
            while word < self.generator.argv(&self.best.steps[at].line).len() {
                let mut argv = self.generator.argv(&self.best.steps[at].line);
                argv.remove(word);
                if !self.try_line(at, Line::Words(argv)) {
                    word += 1;
                }
            }
        }
    }
}
