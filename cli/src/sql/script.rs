//! Scripts: statements that end with semicolons, and commands that end with their line.

use std::collections::VecDeque;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, Tokenizer};

/// A statement or a command of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The text without the semicolon, and without comments before it.
    pub(super) text: &'a str,
    /// True if it begins with a backslash.
    pub(super) is_command: bool,
    /// True if a semicolon, or the end of the line of a command, ends it. The last statement of a script needs none.
    pub(super) has_ended: bool,
    pub(super) at: Place,
}

/// A place in a text: a line and a character of it, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Place {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// Returns the place in the whole text, if `self` is a place in a part that begins at `start`.
    pub(super) fn within(self, start: Self) -> Self {
        let column = if self.line == 1 { start.column + self.column - 1 } else { self.column };
        Self { line: start.line + self.line - 1, column }
    }
}

impl From<Location> for Place {
    fn from(at: Location) -> Self {
        Self { line: at.line.max(1), column: at.column.max(1) }
    }
}

/// The error for a text that ends in the middle of something, such as quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutShort {
    pub(super) message: String,
    pub(super) at: Place,
}

/// The number of bytes of a script that are tokenized first. The number doubles each time that no statement ends in
/// them. So a script is read a few times in all, and not once for each of its statements.
const FIRST_LOOK: usize = 4096;

/// The pieces of a script, in order. There are no more after an incomplete one.
pub(super) struct Pieces<'a> {
    script: &'a str,
    /// The end of the pieces found so far, in bytes and as a place.
    byte: usize,
    at: Place,
    found: VecDeque<Piece<'a>>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(script: &'a str) -> Self {
        Self { script, byte: 0, at: Place::START, found: VecDeque::new() }
    }

    /// Finds the pieces that end in the next part of the script.
    fn look(&mut self) -> Result<(), CutShort> {
        let rest = &self.script[self.byte..];
        let mut size = FIRST_LOOK;
        while !rest.is_empty() && self.found.is_empty() {
            let part = &rest[..rest.floor_char_boundary(size)];
            let is_all = part.len() == rest.len();
            self.find(rest, part, is_all)?;
            if is_all {
                break;
            }
            size *= 2;
        }
        Ok(())
    }

    /// Finds the pieces of `part`, which is a prefix of `rest`.
    fn find(&mut self, rest: &'a str, part: &str, is_all: bool) -> Result<(), CutShort> {
        let mut tokens = Vec::new();
        let mut tokenizer = Tokenizer::new(&GenericDialect {}, part).with_unescape(false);
        // The tokens before the end of the part are known even if the part ends in the middle of something.
        let outcome = tokenizer.tokenize_with_location_into_buf(&mut tokens);
        let (start, mut walk) = (self.at, Walk::new(part));
        let mut first: Option<(usize, Place)> = None;
        for token in &tokens {
            let at = Place::from(token.span.start);
            match (&token.token, first) {
                (Token::Whitespace(_), _) | (Token::SemiColon, None) => {}
                (Token::SemiColon, Some((from, begun))) => {
                    let to = walk.byte(at);
                    self.found.push_back(Piece {
                        text: rest[from..to].trim_end(),
                        is_command: false,
                        has_ended: true,
                        at: begun.within(start),
                    });
                    first = None;
                }
                (Token::Backslash, None) => {
                    // The rest of the line of a command may be any text, so its tokens mean nothing.
                    let from = walk.byte(at);
                    if self.found.is_empty() {
                        self.take_command(rest, from, at.within(start));
                    } else {
                        self.go_to(from, at.within(start));
                    }
                    return Ok(());
                }
                (_, None) => first = Some((walk.byte(at), at)),
                _ => {}
            }
            if matches!(token.token, Token::SemiColon) {
                walk.mark(at);
            }
        }
        if let Some((byte, after)) = walk.marked.filter(|_| !self.found.is_empty()) {
            self.go_to(byte, after.within(start));
            return Ok(());
        }
        if !is_all {
            return Ok(());
        }
        if let Err(error) = outcome {
            return Err(CutShort { message: error.message, at: Place::from(error.location).within(start) });
        }
        if let Some((from, begun)) = first {
            self.found.push_back(Piece {
                text: rest[from..].trim_end(),
                is_command: false,
                has_ended: false,
                at: begun.within(start),
            });
        }
        self.byte = self.script.len();
        Ok(())
    }

    /// Advances by `bytes`, to the place `at`.
    fn go_to(&mut self, bytes: usize, at: Place) {
        self.byte += bytes;
        self.at = at;
    }

    /// Takes the command that begins at a byte of `rest`, up to the end of its line.
    fn take_command(&mut self, rest: &'a str, from: usize, at: Place) {
        let line = &rest[from..];
        let text = &line[..line.find('\n').unwrap_or(line.len())];
        self.found.push_back(Piece { text: text.trim_end(), is_command: true, has_ended: true, at });
        self.go_to(from + text.len(), Place { line: at.line, column: at.column + text.chars().count() as u64 });
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, CutShort>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.found.is_empty()
            && let Err(error) = self.look()
        {
            self.byte = self.script.len();
            return Some(Err(error));
        }
        self.found.pop_front().map(Ok)
    }
}

/// A cursor that turns places of a text into byte offsets, going forward.
struct Walk<'a> {
    text: &'a str,
    byte: usize,
    at: Place,
    /// The start of the text after the last semicolon.
    marked: Option<(usize, Place)>,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, byte: 0, at: Place::START, marked: None }
    }

    fn byte(&mut self, to: Place) -> usize {
        while self.at != to
            && let Some(c) = self.text[self.byte..].chars().next()
        {
            self.byte += c.len_utf8();
            self.at = if c == '\n' {
                Place { line: self.at.line + 1, column: 1 }
            } else {
                Place { line: self.at.line, column: self.at.column + 1 }
            };
        }
        self.byte
    }

    /// Marks the text after the semicolon at a place.
    fn mark(&mut self, semicolon: Place) {
        let byte = self.byte(semicolon) + 1;
        self.marked = Some((byte, Place { line: semicolon.line, column: semicolon.column + 1 }));
    }
}

/// The maximum number of words and signs in a row without a comma or a parenthesis. Such a run can be nested as deeply
/// as it is long, as sums and unions are, and the planner recurses as deeply.
const LONGEST_RUN: usize = 16_000;

/// Returns the place where a statement is nested too deeply to be planned, if it is.
pub(super) fn too_deep(sql: &str) -> Option<Place> {
    // Each token takes at least one byte.
    if sql.len() < LONGEST_RUN {
        return None;
    }
    let mut tokens = Vec::new();
    // The parser reports text that cannot be tokenized.
    Tokenizer::new(&GenericDialect {}, sql).with_unescape(false).tokenize_with_location_into_buf(&mut tokens).ok()?;
    // The lengths of the open runs, each nested in the one before it, and their sum.
    let (mut runs, mut all) = (vec![0_usize], 0);
    for token in &tokens {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::LParen => runs.push(0),
            Token::RParen if runs.len() > 1 => all -= runs.pop().unwrap_or_default(),
            Token::Comma | Token::SemiColon => all -= runs.last_mut().map(std::mem::take).unwrap_or_default(),
            Token::Word(word) if matches!(word.keyword, Keyword::WHEN | Keyword::THEN | Keyword::ELSE) => {
                all -= runs.last_mut().map(std::mem::take).unwrap_or_default();
            }
            _ => {
                all += 1;
                if let Some(run) = runs.last_mut() {
                    *run += 1;
                }
            }
        }
        if all > LONGEST_RUN {
            return Some(Place::from(token.span.start));
        }
    }
    None
}

/// Returns true if the typed text can run: commands, and statements with their semicolons.
pub(super) fn is_whole(text: &str) -> bool {
    Pieces::of(text).all(|piece| piece.is_ok_and(|piece| piece.has_ended))
}

/// Returns the line of a text at a place.
pub(super) fn line_at(text: &str, at: Place) -> &str {
    let line = usize::try_from(at.line).unwrap_or(usize::MAX);
    text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(script: &str) -> Vec<(String, u64, u64)> {
        let pieces = Pieces::of(script).map(|piece| piece.unwrap());
        pieces.map(|piece| (piece.text.to_string(), piece.at.line, piece.at.column)).collect()
    }

    #[test]
    fn semicolons_end_statements_and_lines_end_commands() {
        let script = "-- ;\nSELECT 'a;''b', \"c;\" /* ; /* ; */ ; */ ;; SELECT $$;'$$, $x$;$$;$x$\n;\n  \\i it's.sql \n\\q\nSELECT 1";
        let expected = [
            ("SELECT 'a;''b', \"c;\" /* ; /* ; */ ; */", 2, 1),
            ("SELECT $$;'$$, $x$;$$;$x$", 2, 43),
            ("\\i it's.sql", 4, 3),
            ("\\q", 5, 1),
            ("SELECT 1", 6, 1),
        ];
        assert_eq!(pieces(script), expected.map(|(text, line, column)| (text.to_string(), line, column)));
    }

    #[test]
    fn what_is_cut_short_is_not_whole() {
        for open in
            ["SELECT 1", "SELECT ';", "SELECT \";", "SELECT $$;", "/* ;", "SELECT 1; SELECT", "SELECT /* /* */ ;"]
        {
            assert!(!is_whole(open), "{open}");
        }
        for whole in ["", " -- ;", "SELECT 1;", "SELECT 1; -- 'done", "\\df it's", "SELECT\n';'\n;", "/* ; */"] {
            assert!(is_whole(whole), "{whole}");
        }
        let error = Pieces::of("SELECT 1;\nSELECT 'abc").find_map(Result::err).unwrap();
        assert_eq!((error.message.as_str(), error.at.line, error.at.column), ("Unterminated string literal", 2, 8));
    }

    #[test]
    fn what_is_too_deep_is_told_from_what_is_long() {
        let of = |unit: &str, n: usize| format!("SELECT 1 {}", unit.repeat(n));
        for deep in [of("+ 1 ", 9000), of("UNION SELECT 1 ", 6000), of("+ (1 + 1 ", 6000), of("::int", 9000)] {
            assert!(too_deep(&deep).is_some(), "{}", &deep[..20]);
        }
        let cases = format!("SELECT CASE {} END", "WHEN 1 THEN 2 ".repeat(9000));
        for long in [of(", 1 + 1", 9000), of(", (-1)", 9000), of("--\n", 9000), cases, of("+ 1 ", 7000)] {
            assert_eq!(too_deep(&long), None, "{}", &long[..20]);
        }
        let found = too_deep(&of("\n+ 1", 9000)).unwrap();
        assert_eq!((found.line, found.column), (8001, 1));
    }

    #[test]
    fn long_scripts_are_read_in_parts() {
        let long = format!("SELECT '{}'", ";é\n".repeat(5000));
        let script = format!("SELECT 1;{long};\n\\d\n").repeat(50);
        let found = pieces(&script);
        assert_eq!(found.len(), 150);
        assert!(found.chunks(3).all(|three| three[0].0 == "SELECT 1" && three[1].0 == long && three[2].0 == "\\d"));
        assert_eq!(found[149].1, 5002 * 49 + 5002);
    }

    proptest! {
        /// Checks that the number of pieces does not depend on the parts in which a script is read.
        #[test]
        fn pieces_are_those_of_all_tokens(parts in proptest::collection::vec("(SELECT|[a-z]+|'[^']{0,9}'|;|;|\n| |--[^\n]*\n|/\\*[a-z;]*\\*/|\\$\\$[a-z;]*\\$\\$|é)", 0..3000)) {
            let script = parts.join(" ");
            let tokens = Tokenizer::new(&GenericDialect {}, &script).with_unescape(false).tokenize().unwrap();
            let statements = tokens.split(|token| *token == Token::SemiColon);
            let expected = statements.filter(|tokens| tokens.iter().any(|token| !matches!(token, Token::Whitespace(_)))).count();
            prop_assert_eq!(Pieces::of(&script).count(), expected);
        }
    }
}
