//! What programs promise about themselves: comments → input, output, errors; and what a run left → broken promises.
//!
//! ```vlad
//! ;<= 3 4
//! (+ (read-real) (read-real))    ;=> 7
//! (car '())
//! ;=> error: car
//! ```
//!
//! A comment `;=> line` promises one line of output, in order. `;=> error: text` promises, as the last one, that the
//! program fails with exit code 1 and a message that contains the text; a compiler that sees the error coming may say
//! so before anything is printed. `;=> warning: text` promises that the compiler warns so. `;<= line` is a line of the
//! program's standard input, `;<= -- words` are words of its command line. White space at the ends of lines does not count.
//!
//! `vlad test` and the tests of the compiler read promises here.

pub mod stalingrad;

use crate::syntax;
use std::ops::Range;

/// What a program promises, and what it is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Promises {
    /// Its standard input.
    pub input: String,
    /// The words of its command line.
    pub arguments: Vec<String>,
    /// The lines of its standard output.
    pub lines: Vec<Promise>,
    /// What its last message contains, if it fails.
    pub error: Option<Promise>,
    /// What the compiler warns of.
    pub warning: Option<Promise>,
}

/// A text and the place of the comment that promises it.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// The text.
    pub text: String,
    /// The comment.
    pub place: Range<usize>,
}

/// What a run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; `None` when the run was killed, by a signal or because it took too long.
    pub code: Option<i32>,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub messages: String,
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// Another line was printed.
    Line { promise: Promise, found: String },
    /// The line was not printed.
    Missing { promise: Promise },
    /// A line was printed that nobody promised, behind the one that this promise is about.
    Unexpected { before: Option<Promise>, found: String },
    /// The program failed without having promised it.
    Failed { code: Option<i32> },
    /// The program promised to fail, and did not.
    NotFailed { promise: Promise, code: Option<i32> },
    /// It failed for another reason.
    OtherError { promise: Promise },
    /// The compiler did not warn.
    NotWarned { promise: Promise },
}

impl Promises {
    /// The promises in the comments of a program.
    pub fn read(text: &str) -> Promises {
        let mut promises = Promises::default();
        for place in syntax::comments(text) {
            let comment = text[place.clone()].trim_end();
            let behind = |mark: &str| {
                let rest = comment.strip_prefix(mark)?;
                if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
            };
            let promise =
                |text: &str| Promise { text: text.to_string(), place: place.start..place.start + comment.len() };
            if let Some(line) = behind(";<= --") {
                promises.arguments.extend(words(line));
            } else if let Some(line) = behind(";<=") {
                promises.input.push_str(line);
                promises.input.push('\n');
            } else if let Some(line) = behind(";=>") {
                if let Some(error) = line.strip_prefix("error:") {
                    promises.error = Some(promise(error.trim_start()));
                } else if let Some(warning) = line.strip_prefix("warning:") {
                    promises.warning = Some(promise(warning.trim_start()));
                } else {
                    promises.lines.push(promise(line));
                }
            }
        }
        promises
    }

    /// The number of promises.
    pub fn count(&self) -> usize {
        self.lines.len() + usize::from(self.error.is_some()) + usize::from(self.warning.is_some())
    }

    /// The promises that a run breaks. Warnings are promises about `compiled` runs only.
    pub fn broken(&self, outcome: &Outcome, compiled: bool) -> Vec<Broken> {
        let says = |promise: &Promise| outcome.messages.contains(&promise.text);
        let mut broken = Vec::new();
        let lines: Vec<&str> = outcome.output.lines().map(str::trim_end).collect();
        let foreseen = self.error.is_some() && compiled && lines.is_empty();
        if !foreseen {
            self.compare(&lines, &mut broken);
        }
        let has_arguments = !self.arguments.is_empty();
        match (&self.error, outcome.code) {
            (None, Some(0)) => {}
            (None, code) => broken.push(Broken::Failed { code }),
            // Wrong usage has another exit code.
            (Some(promise), Some(1 | 2)) if says(promise) && (has_arguments || outcome.code == Some(1)) => {}
            (Some(promise), Some(1)) => broken.push(Broken::OtherError { promise: promise.clone() }),
            (Some(promise), code) => broken.push(Broken::NotFailed { promise: promise.clone(), code }),
        }
        if let Some(promise) = self.warning.as_ref().filter(|promise| compiled && !says(promise)) {
            broken.push(Broken::NotWarned { promise: promise.clone() });
        }
        broken
    }

    /// The lines that are not as promised. Those that are, before and behind, stay out of the way.
    fn compare(&self, found: &[&str], broken: &mut Vec<Broken>) {
        let promised: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        for operation in similar::capture_diff_slices(similar::Algorithm::Myers, &promised, found) {
            if matches!(operation, similar::DiffOp::Equal { .. }) {
                continue;
            }
            let (old, new) = (operation.old_range(), operation.new_range());
            let common = old.len().min(new.len());
            for (promise, found) in self.lines[old.clone()].iter().zip(&found[new.clone()]) {
                broken.push(Broken::Line { promise: promise.clone(), found: (*found).to_string() });
            }
            for promise in &self.lines[old.start + common..old.end] {
                broken.push(Broken::Missing { promise: promise.clone() });
            }
            let before = old.end.checked_sub(1).map(|last| self.lines[last].clone());
            for found in &found[new.start + common..new.end] {
                broken.push(Broken::Unexpected { before: before.clone(), found: (*found).to_string() });
            }
        }
    }
}

/// The words of a line, between white space; what stands in single or double quotes is part of one word.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None, None);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_with(String::new);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_with(String::new).push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: i32, output: &str, messages: &str) -> Outcome {
        Outcome { code: Some(code), output: output.to_string(), messages: messages.to_string() }
    }

    fn lines(promises: &Promises) -> Vec<&str> {
        promises.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn comments_promise_and_texts_do_not() {
        let text =
            ";<= 1 2\n;<=\n(f \";=> 1\") ;=> 2  \n;=>\n;=>3\n; ;=> 4\n#| ;=> 5 |# ;=> error: no\n;=> warning: slow\n";
        let promises = Promises::read(text);
        assert_eq!(promises.input, "1 2\n\n");
        assert_eq!(lines(&promises), ["2", ""]);
        assert_eq!(&text[promises.lines[0].place.clone()], ";=> 2");
        assert_eq!(promises.error.as_ref().map(|error| error.text.as_str()), Some("no"));
        assert_eq!(promises.warning.as_ref().map(|warning| warning.text.as_str()), Some("slow"));
        assert_eq!(promises.count(), 4);
    }

    #[test]
    fn words_of_the_command_line_stand_behind_two_hyphens() {
        let promises = Promises::read(";<= -- --rate 0.5 'a b.csv' \"\"\n;<= 3\n;<= -- --title=\"it's\" -1\n;<= --3\n");
        assert_eq!(promises.arguments, ["--rate", "0.5", "a b.csv", "", "--title=it's", "-1"]);
        assert_eq!(promises.input, "3\n--3\n");
    }

    #[test]
    fn wrong_usage_can_be_promised_of_programs_with_arguments() {
        let with = Promises::read(";<= -- --rate x\n1 ;=> error: expected a number\n");
        let without = Promises::read("1 ;=> error: expected a number\n");
        let refused = outcome(2, "", "error: `--rate`: expected a number, found `x`");
        assert_eq!(with.broken(&refused, true), []);
        assert_eq!(without.broken(&refused, true).len(), 1);
        assert_eq!(with.broken(&outcome(2, "", "error: other"), true).len(), 1);
    }

    #[test]
    fn lines_are_compared_beside_those_that_are_right() {
        let promises = Promises::read("1 ;=> 1\n2 ;=> 2\n3 ;=> 3\n");
        assert_eq!(promises.broken(&outcome(0, "1\n2 \n3\n", ""), true), []);
        let broken = |output: &str| promises.broken(&outcome(0, output, ""), true);
        let line = |index: usize| promises.lines[index].clone();
        assert_eq!(broken("1\n5\n3\n"), [Broken::Line { promise: line(1), found: "5".to_string() }]);
        assert_eq!(broken("1\n3\n"), [Broken::Missing { promise: line(1) }]);
        let extra = Broken::Unexpected { before: Some(line(0)), found: "9".to_string() };
        assert_eq!(broken("1\n9\n2\n3\n"), [extra]);
    }

    #[test]
    fn errors_are_promised_or_not() {
        let promises = Promises::read("1 ;=> 1\n(car 1) ;=> error: car of a non-pair\n");
        let message = "error: car of a non-pair";
        let error = || promises.error.clone().expect("it is promised");
        assert_eq!(promises.broken(&outcome(1, "1\n", message), false), []);
        assert_eq!(promises.broken(&outcome(1, "", message), true), []);
        assert_eq!(promises.broken(&outcome(1, "", message), false).len(), 1, "the evaluator foresees nothing");
        assert_eq!(promises.broken(&outcome(1, "1\n", "error: cdr"), true), [Broken::OtherError { promise: error() }]);
        let not_failed = Broken::NotFailed { promise: error(), code: Some(0) };
        assert_eq!(promises.broken(&outcome(0, "1\n", ""), true), [not_failed]);
        let promises = Promises::read("1 ;=> 1\n");
        assert_eq!(promises.broken(&outcome(3, "1\n", ""), true), [Broken::Failed { code: Some(3) }]);
    }

    #[test]
    fn warnings_are_promised_of_compiled_code() {
        let promises = Promises::read("1 ;=> 1\n;=> warning: needs the evaluator\n");
        assert_eq!(promises.broken(&outcome(0, "1\n", ""), false), []);
        assert_eq!(promises.broken(&outcome(0, "1\n", "warning: needs the evaluator"), true), []);
        assert_eq!(promises.broken(&outcome(0, "1\n", ""), true).len(), 1);
    }
}
