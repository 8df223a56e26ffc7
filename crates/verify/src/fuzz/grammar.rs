//! A context-free grammar read from text, trees grown from it at random, and the smaller trees that a tree can be
//! replaced by.
//!
//! A rule is a line `name: alternative | alternative`; further alternatives may follow on lines that begin with
//! spaces and `|`. In an alternative `<name>` stands for a rule, `<1..9>` for a whole number of that range, `<nl>` for
//! the end of a line; `3*` before it makes it three times as likely. A line that begins with `#` is a comment.

use std::collections::HashMap;

use fastrand::Rng;

#[derive(Debug)]
pub struct Grammar {
    rules: Vec<Rule>,
    places: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Rule {
    alternatives: Vec<Alternative>,
    weight: u32,
    /// The alternative that ends soonest.
    shortest: usize,
}

#[derive(Debug)]
struct Alternative {
    parts: Vec<Part>,
    weight: u32,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Rule(usize),
    Number(i64, i64),
}

/// What was chosen for a rule. Text is in the grammar only.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Node { rule: usize, alternative: usize, children: Vec<Tree> },
    Number { value: i64, low: i64, high: i64 },
}

/// Why a text is no grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    #[error("line {line}: neither a rule nor a further alternative")]
    Line { line: usize },
    #[error("there is no rule <{name}>")]
    Missing { name: String },
    #[error("<{name}> never ends")]
    Endless { name: String },
}

impl Grammar {
    /// # Errors
    /// When a line is malformed, a rule is missing or one never ends.
    pub fn parse(text: &str) -> Result<Grammar, GrammarError> {
        let mut sources: Vec<(&str, Vec<&str>)> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let malformed = GrammarError::Line { line: at + 1 };
            if line.starts_with(' ') {
                let (_, alternatives) = sources.last_mut().ok_or(malformed.clone())?;
                let line = line.trim_start().strip_prefix('|').ok_or(malformed)?;
                alternatives.extend(line.split(" | "));
            } else {
                let (name, alternatives) = line.split_once(':').ok_or(malformed)?;
                sources.push((name, alternatives.split(" | ").collect()));
            }
        }
        let places = sources.iter().enumerate().map(|(at, (name, _))| ((*name).to_owned(), at)).collect();
        let mut grammar = Grammar { rules: Vec::new(), places };
        for (_, alternatives) in &sources {
            let alternatives = alternatives.iter().map(|source| grammar.alternative(source));
            let alternatives = alternatives.collect::<Result<Vec<_>, _>>()?;
            let weight = alternatives.iter().map(|alternative| alternative.weight).sum();
            grammar.rules.push(Rule { alternatives, weight, shortest: 0 });
        }
        grammar.find_shortest()?;
        Ok(grammar)
    }

    /// The names of all rules.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// A tree of this rule. Below `depth` the shortest alternatives are taken.
    ///
    /// # Errors
    /// When there is no such rule.
    pub fn grow(&self, name: &str, depth: usize, rng: &mut Rng) -> Result<Tree, GrammarError> {
        Ok(self.grow_rule(self.place(name)?, depth, rng))
    }

    /// The text of a tree.
    pub fn render(&self, tree: &Tree) -> String {
        let mut text = String::new();
        self.write(tree, &mut text);
        text
    }

    /// The trees to try in the place of this one, the smallest first.
    pub fn smaller(&self, tree: &Tree) -> Vec<Tree> {
        match tree {
            Tree::Number { value, low, high } => {
                let nearest = 0.clamp(*low, *high);
                let halved = nearest + (value - nearest) / 2;
                let tried = [nearest, halved].into_iter().filter(|new| new != value);
                tried.map(|value| Tree::Number { value, low: *low, high: *high }).collect()
            }
            Tree::Node { rule, .. } => {
                let shortest = self.grow_rule(*rule, 0, &mut Rng::with_seed(0));
                let mut found = Vec::new();
                same_rule_below(tree, *rule, &mut found);
                found.sort_by_key(Tree::size);
                let mut tried: Vec<Tree> =
                    (shortest.size() < tree.size()).then_some(shortest).into_iter().collect();
                tried.extend(found);
                tried
            }
        }
    }

    fn place(&self, name: &str) -> Result<usize, GrammarError> {
        self.places.get(name).copied().ok_or_else(|| GrammarError::Missing { name: name.to_owned() })
    }

    fn alternative(&self, source: &str) -> Result<Alternative, GrammarError> {
        let source = source.trim();
        let (weight, source) = match source.split_once('*').map(|(weight, rest)| (weight.parse(), rest)) {
            Some((Ok(weight), rest)) if rest.is_empty() || rest.starts_with(' ') => {
                (weight, rest.trim_start())
            }
            _ => (1, source),
        };
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some((before, name, after)) = next_reference(rest) {
            parts.push(Part::Text(before.to_owned()));
            parts.push(self.part(name)?);
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(Alternative { parts, weight })
    }

    fn part(&self, name: &str) -> Result<Part, GrammarError> {
        let range = name.split_once("..").map(|(low, high)| (low.parse(), high.parse()));
        match range {
            Some((Ok(low), Ok(high))) => Ok(Part::Number(low, high)),
            _ if name == "nl" => Ok(Part::Text("\n".to_owned())),
            _ => Ok(Part::Rule(self.place(name)?)),
        }
    }

    /// Heights grow from the rules without references upwards; what has none at the end never ends.
    fn find_shortest(&mut self) -> Result<(), GrammarError> {
        let mut heights: Vec<Option<usize>> = vec![None; self.rules.len()];
        for _ in 0..self.rules.len() {
            for at in 0..self.rules.len() {
                let alternatives = self.rules[at].alternatives.iter().enumerate();
                let ended =
                    alternatives.filter_map(|(at, alternative)| Some((height(alternative, &heights)?, at)));
                if let Some((height, shortest)) = ended.min() {
                    heights[at] = Some(height);
                    self.rules[at].shortest = shortest;
                }
            }
        }
        let endless = self.places.iter().find(|(_, place)| heights[**place].is_none());
        match endless {
            Some((name, _)) => Err(GrammarError::Endless { name: name.clone() }),
            None => Ok(()),
        }
    }

    fn grow_rule(&self, place: usize, depth: usize, rng: &mut Rng) -> Tree {
        let rule = &self.rules[place];
        let alternative = if depth == 0 { rule.shortest } else { rule.choose(rng) };
        let parts = rule.alternatives[alternative].parts.iter();
        let children = parts.filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Rule(place) => Some(self.grow_rule(*place, depth.saturating_sub(1), rng)),
            Part::Number(low, high) => {
                let value = if depth == 0 { 0.clamp(*low, *high) } else { rng.i64(*low..=*high) };
                Some(Tree::Number { value, low: *low, high: *high })
            }
        });
        let children = children.collect();
        Tree::Node { rule: place, alternative, children }
    }

    fn write(&self, tree: &Tree, text: &mut String) {
        match tree {
            Tree::Number { value, .. } => text.push_str(&value.to_string()),
            Tree::Node { rule, alternative, children } => {
                let mut children = children.iter();
                for part in &self.rules[*rule].alternatives[*alternative].parts {
                    match part {
                        Part::Text(part) => text.push_str(part),
                        Part::Rule(_) | Part::Number(..) => {
                            children.next().into_iter().for_each(|child| self.write(child, text));
                        }
                    }
                }
            }
        }
    }
}

impl Rule {
    fn choose(&self, rng: &mut Rng) -> usize {
        let mut ticket = rng.u32(0..self.weight);
        for (at, alternative) in self.alternatives.iter().enumerate() {
            match ticket.checked_sub(alternative.weight) {
                Some(left) => ticket = left,
                None => return at,
            }
        }
        self.shortest
    }
}

impl Tree {
    /// How many choices were made.
    pub fn size(&self) -> usize {
        match self {
            Tree::Number { .. } => 1,
            Tree::Node { children, .. } => 1 + children.iter().map(Tree::size).sum::<usize>(),
        }
    }

    /// The node at this place of the order from the root down.
    pub fn at(&self, place: usize) -> Option<&Tree> {
        let mut place = place;
        self.find(&mut place)
    }

    /// A copy with another tree at this place.
    #[must_use]
    pub fn with(&self, place: usize, new: &Tree) -> Tree {
        let mut copy = self.clone();
        let mut place = place;
        copy.replace(&mut place, new);
        copy
    }

    fn find(&self, left: &mut usize) -> Option<&Tree> {
        if *left == 0 {
            return Some(self);
        }
        *left -= 1;
        match self {
            Tree::Number { .. } => None,
            Tree::Node { children, .. } => children.iter().find_map(|child| child.find(left)),
        }
    }

    /// True when the place was in this tree.
    fn replace(&mut self, left: &mut usize, new: &Tree) -> bool {
        if *left == 0 {
            *self = new.clone();
            return true;
        }
        *left -= 1;
        match self {
            Tree::Number { .. } => false,
            Tree::Node { children, .. } => children.iter_mut().any(|child| child.replace(left, new)),
        }
    }
}

fn same_rule_below(tree: &Tree, wanted: usize, found: &mut Vec<Tree>) {
    if let Tree::Node { children, .. } = tree {
        for child in children {
            if matches!(child, Tree::Node { rule, .. } if *rule == wanted) {
                found.push(child.clone());
            }
            same_rule_below(child, wanted, found);
        }
    }
}

/// One more than the highest part; none while that is not known.
fn height(alternative: &Alternative, heights: &[Option<usize>]) -> Option<usize> {
    let mut highest = 0;
    for part in &alternative.parts {
        if let Part::Rule(place) = part {
            highest = highest.max(heights[*place]?);
        }
    }
    Some(highest + 1)
}

/// What stands before the next `<name>`, the name, and the rest. A `<` that begins no name is text.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in text.match_indices('<') {
        let Some((name, after)) = text[at + 1..].split_once('>') else { continue };
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-' | '|');
        if !name.is_empty() && name.chars().all(is_name) {
            return Some((&text[..at], name, after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "# A comment.\nsum: <term> | 3* <term>+<sum>\n    | (<sum>)\nterm: <1..9> | a < b";

    #[test]
    fn trees_are_grown_and_rendered() {
        let grammar = Grammar::parse(SUM).unwrap();
        let mut rng = Rng::with_seed(1);
        let texts: Vec<String> =
            (0..50).map(|_| grammar.render(&grammar.grow("sum", 8, &mut rng).unwrap())).collect();
        assert!(texts.iter().any(|text| text.contains("+(")), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains("a < b")), "{texts:?}");
        let shortest = grammar.grow("sum", 0, &mut rng).unwrap();
        assert_eq!((grammar.render(&shortest).as_str(), shortest.size()), ("1", 3));
    }

    #[test]
    fn smaller_trees_are_of_the_same_rule_and_smaller() {
        let grammar = Grammar::parse(SUM).unwrap();
        for seed in 0..100 {
            let tree = grammar.grow("sum", 8, &mut Rng::with_seed(seed)).unwrap();
            for place in 0..tree.size() {
                let node = tree.at(place).unwrap();
                for new in grammar.smaller(node) {
                    assert!(new.size() < node.size() || matches!(new, Tree::Number { .. }));
                    assert_eq!(tree.with(place, &new).size(), tree.size() - node.size() + new.size());
                }
            }
            assert_eq!(tree.at(tree.size()), None);
        }
    }

    #[test]
    fn what_is_no_grammar_is_refused() {
        let error = |text| Grammar::parse(text).unwrap_err().to_string();
        assert_eq!(error("a: <b>"), "there is no rule <b>");
        assert_eq!(error("a: x<a>"), "<a> never ends");
        assert_eq!(error("a: b\nno rule"), "line 2: neither a rule nor a further alternative");
    }
}
