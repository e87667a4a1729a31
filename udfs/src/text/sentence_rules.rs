//! The ends of sentences.
//!
//! Unicode's default (UAX #29, as `icu_segmenter` has it) breaks after `Dr.` and inside URLs, at every line break, and
//! on the wrong side of a Chinese opening quote. So [`split`] looks at every *gap*, a place where a sentence may end:
//! after terminators with the quotes and brackets that close there, and at line breaks. [`RULES`] are asked in order,
//! and the first rule with an answer decides. If no rule has one, UAX #29 decides. A few rules read the lists of the
//! text's language in `languages/`.
//!
//! The text that is examined around a gap is either bounded or belongs to that gap alone. So the time is linear in the
//! text, whatever the text is.

use std::ops::Range;

use icu_properties::CodePointMapData;
use icu_properties::props::SentenceBreak;
use icu_segmenter::SentenceSegmenter;
use icu_segmenter::iterators::SentenceBreakIterator;
use icu_segmenter::scaffold::Utf8;

use super::languages::{Language, LanguageChoice};

mod in_language;

/// A rule about the ends of sentences, with examples that a test checks.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The name of the rule.
    pub name: &'static str,
    /// The text of the rule.
    pub says: &'static str,
    /// Texts and their sentences.
    pub examples: &'static [(&'static str, &'static [&'static str])],
    /// The function that answers at a gap. A rule without one describes how gaps are found, or UAX #29.
    decide: Option<fn(&Gap<'_>) -> Option<Verdict>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Break,
    Join,
}
use Verdict::{Break, Join};

/// Returns the rules of `sentences(text)`, in the order in which they are asked.
pub fn sentence_rules() -> &'static [Rule] {
    RULES
}

const RULES: &[Rule] = &[
    Rule {
        name: "Unicode",
        says: "If no rule below decides, UAX #29 decides: a sentence ends after a terminator of its script and the \
               white space after it, but not before a comma or a lower-case letter, and not inside a number.",
        examples: &[
            ("It costs 3.14 euros. Version v1.2.3 is out!", &["It costs 3.14 euros.", "Version v1.2.3 is out!"]),
            ("ما اسمك؟ اسمي ليلى.", &["ما اسمك؟", "اسمي ليلى."]),
            ("यह एक वाक्य है। यह दूसरा है।", &["यह एक वाक्य है।", "यह दूसरा है।"]),
            ("Ողջույն։ Ինչպես ես։", &["Ողջույն։", "Ինչպես ես։"]),
            ("他走了。我也走了！真的吗？是；对。", &["他走了。", "我也走了！", "真的吗？", "是；对。"]),
        ],
        decide: None,
    },
    Rule {
        name: "closing and opening signs",
        says: "Quotes, brackets, emphasis and footnote numbers that close after a terminator belong to the sentence \
               that they close. Those that open belong to the sentence that they open. A straight quote closes if an \
               odd number of straight quotes is before it in the paragraph, or white space is after it.",
        examples: &[
            ("他说：“你好。”然后走了。", &["他说：“你好。”", "然后走了。"]),
            ("他来了。“你好！”「再见。」", &["他来了。", "“你好！”", "「再见。」"]),
            ("\"I know. You don't.\" She left.", &["\"I know.", "You don't.\"", "She left."]),
            ("他说\"好。\"他走了。\"再见\"", &["他说\"好。\"", "他走了。", "\"再见\""]),
            ("« Je pars. » Il part.", &["« Je pars. »", "Il part."]),
            ("„Ja.“ Er ging.", &["„Ja.“", "Er ging."]),
            (
                "It rained.[3] We left. (So did he.) **Fine.** Bye.",
                &["It rained.[3]", "We left.", "(So did he.)", "**Fine.**", "Bye."],
            ),
        ],
        decide: None,
    },
    Rule {
        name: "no words",
        says: "Text without letters and digits is no sentence of its own. It belongs to the sentence before it or, at \
               the beginning, to the sentence after it.",
        examples: &[("* * *\n\nTitle\n=====\n\nText. ... !!!", &["* * *\n\nTitle\n=====", "Text. ... !!!"])],
        decide: None,
    },
    Rule {
        name: "blank line",
        says: "A blank line ends a sentence, and so does U+2029.",
        examples: &[
            ("A heading\n\nand text", &["A heading", "and text"]),
            ("See Dr.\r\n\r\nSmith", &["See Dr.", "Smith"]),
        ],
        decide: Some(blank_line),
    },
    Rule {
        name: "line of signs",
        says: "A line without letters and digits, such as an underline or an empty comment line, ends the sentence \
               before it. The line belongs to that sentence.",
        examples: &[
            ("The heading\n---\ngoes on", &["The heading\n---", "goes on"]),
            ("# one\n#\n# two", &["# one\n#", "# two"]),
        ],
        decide: Some(line_of_signs),
    },
    Rule {
        name: "list item",
        says: "A line that begins with a bullet, a list number or `#` begins a sentence, unless it looks like a \
               wrapped line. It does so if the line before is full (over three quarters of the widest line of its \
               paragraph, and that has 50 columns or more), ends without . : ; , ! ? and without `and` or `or`, and is \
               no list item itself. It also does so if the line before is such a full line, both lines begin with the \
               same sign, `*` or `#`, as in a comment, and a lower-case letter follows.",
        examples: &[
            ("You need\n- milk\n- eggs", &["You need", "- milk", "- eggs"]),
            ("it applies if\n(a) you ask, or\n(b) they do", &["it applies if", "(a) you ask, or", "(b) they do"]),
            ("intro\n# heading", &["intro", "# heading"]),
            ("总则\n第一条 为了\n一、甲", &["总则", "第一条 为了", "一、甲"]),
            (
                "in a text that is wrapped at about sixty columns the sign\n- a dash - begins a line but no list",
                &["in a text that is wrapped at about sixty columns the sign\n- a dash - begins a line but no list"],
            ),
            (
                "* This is a comment that goes over several lines of program\n* text with a star at each of them",
                &["* This is a comment that goes over several lines of program\n* text with a star at each of them"],
            ),
        ],
        decide: Some(list_item),
    },
    Rule {
        name: "list number",
        says: "A list number or letter belongs to the text that it numbers. This holds at the beginning of a sentence, \
               and after a colon, a semicolon or a comma.",
        examples: &[
            ("1. First item. 2. Second item.", &["1. First item.", "2. Second item."]),
            ("A. One. B. Two.", &["A. One.", "B. Two."]),
            ("Do this: 1. Stop. Then go.", &["Do this: 1. Stop.", "Then go."]),
            ("## 2.1. Scope\nText", &["## 2.1. Scope\nText"]),
        ],
        decide: Some(list_number),
    },
    Rule {
        name: "line of an unwrapped paragraph",
        says: "If most of a paragraph is in lines over 140 columns, its lines are not wrapped. Then a line break ends \
               a sentence, unless the line has no terminator and a lower-case letter follows. (A paragraph is the text \
               between blank lines; a Chinese character is two columns wide.)",
        examples: &[(
            "A title\nThis line is so long that nobody has wrapped it, since mail and program texts are wrapped at \
             seventy or eighty columns and few at more than one hundred and thirty\nThe next\nand more",
            &[
                "A title",
                "This line is so long that nobody has wrapped it, since mail and program texts are wrapped at \
                 seventy or eighty columns and few at more than one hundred and thirty",
                "The next\nand more",
            ],
        )],
        decide: Some(unwrapped_line),
    },
    Rule {
        name: "reporting clause",
        says: "This rule is for texts in one of the languages below. ! or ? ends no sentence before a verb of \
               reporting in lower case, such as `sa` in Swedish. A Japanese quotation ends no sentence before a \
               particle of quotation such as と or って.",
        examples: &[
            ("– Kom nu! sa hon till honom. Han kom inte.", &["– Kom nu! sa hon till honom.", "Han kom inte."]),
            ("「来い！」と彼は言った。「いやだ。」", &["「来い！」と彼は言った。", "「いやだ。」"]),
        ],
        decide: Some(in_language::reporting_clause),
    },
    Rule {
        name: "ordinal number",
        says: "This rule is for texts in a language that writes ordinals with a full stop. A number of up to three \
               digits, or a Roman number, ends no sentence before a month or another word of the language's list. It \
               also ends none after an article or preposition of the list (German: der, am, vom, zum, …), unless a \
               word follows that often begins a sentence. The day and the month of a date in numbers end no sentence.",
        examples: &[
            (
                "Der 2. Weltkrieg war am 8. Mai zu Ende. Es gab viele, nämlich 12. Danach kam keiner.",
                &["Der 2. Weltkrieg war am 8. Mai zu Ende.", "Es gab viele, nämlich 12.", "Danach kam keiner."],
            ),
            (
                "Er kam am 3. 10. 1990 Frau Huber besuchen, und sie war nicht da.",
                &["Er kam am 3. 10. 1990 Frau Huber besuchen, und sie war nicht da."],
            ),
        ],
        decide: Some(in_language::ordinal),
    },
    Rule {
        name: "abbreviations of a language",
        says: "The abbreviations of the text's language, with or without white space inside, are of four kinds. Some \
               end no sentence (`z. B.`), some end none before a number (`núm.`), some end one only before a word that \
               often begins a sentence (`v. Chr.`), and some end one before any capital (`usw.`). Before a lower-case \
               letter no abbreviation ends a sentence.",
        examples: &[
            (
                "Das ist z. B. Eisen. Es gibt noch Zinn usw. Kupfer ist nicht dabei.",
                &["Das ist z. B. Eisen.", "Es gibt noch Zinn usw.", "Kupfer ist nicht dabei."],
            ),
            (
                "Está en la pág. XII del libro núm. 5 de los que hay. No es el mío.",
                &["Está en la pág. XII del libro núm. 5 de los que hay.", "No es el mío."],
            ),
        ],
        decide: Some(in_language::abbreviation),
    },
    Rule {
        name: "no abbreviation in this language",
        says: "A word that is an abbreviation in English only, such as `est` in a French text, ends a sentence before \
               a capital or a digit. A single capital ends a sentence before a word that often begins a sentence in \
               the text's language, unless that word is also a part of surnames (`de`, `la`).",
        examples: &[
            ("Je ne sais pas où il est. Marie le sait.", &["Je ne sais pas où il est.", "Marie le sait."]),
            (
                "Das ist nicht der Plan B. Danach kam er mit J. R. Huber.",
                &["Das ist nicht der Plan B.", "Danach kam er mit J. R. Huber."],
            ),
        ],
        decide: Some(in_language::no_abbreviation),
    },
    Rule {
        name: "ellipsis",
        says: "Two or more full stops, or …, end a sentence before a capital. They end none before a lower-case letter \
               or a digit, and none between letters without case.",
        examples: &[
            ("Well… I think. So... what", &["Well…", "I think.", "So... what"]),
            ("And so on…The end", &["And so on…", "The end"]),
            ("他想……还是走吧。好。", &["他想……还是走吧。", "好。"]),
            ("唉...算了。", &["唉...算了。"]),
        ],
        decide: Some(ellipsis),
    },
    Rule {
        name: "no space",
        says: "Without white space after it, . ! or ? ends a sentence in two places only. One is before a capitalized \
               word, after a lower-case word of two letters or more, a digit (! ?) or a closing sign. The other is \
               before a letter without case. None of them ends a sentence inside a URL, an e-mail address, a path \
               or a dotted name.",
        examples: &[
            ("This is the end.The next begins?Yes.No.", &["This is the end.", "The next begins?", "Yes.", "No."]),
            (
                "See http://x.org/a?B=c&d=E.F or Main.java.Txt now",
                &["See http://x.org/a?B=c&d=E.F or Main.java.Txt now"],
            ),
            ("Write to John.Doe@Example.Com or open README.MD", &["Write to John.Doe@Example.Com or open README.MD"]),
            ("Look at page.html?id=3 now", &["Look at page.html?id=3 now"]),
            ("你好吗?我很好.再见", &["你好吗?", "我很好.", "再见"]),
        ],
        decide: Some(no_space),
    },
    Rule {
        name: "number follows",
        says: "No., Nr., Fig., Eq., Vol., Ch., Sec., Art., p., pp., approx. and the like end no sentence before a \
               digit. Fig., Eq., Vol., Ch., Sec., Art. and the like also end none before a single capital or a Roman \
               number.",
        examples: &[
            ("See No. 5 and pp. 3 of it. No. I do not.", &["See No. 5 and pp. 3 of it.", "No.", "I do not."]),
            ("As in Fig. B and Vol. IV of it.", &["As in Fig. B and Vol. IV of it."]),
        ],
        decide: Some(number_follows),
    },
    Rule {
        name: "titles and the like",
        says: "Titles with a capital end no sentence: Dr., Mr., Mrs., Prof., Gen. and others. The same holds for e.g., \
               i.e., cf., vs., viz., z.B. and d.h.",
        examples: &[
            ("Dr. Who met Prof. No.", &["Dr. Who met Prof. No."]),
            ("Fruit, e.g. The Apple, cf. Smith.", &["Fruit, e.g. The Apple, cf. Smith."]),
            ("wrapped after Mr.\nSmith", &["wrapped after Mr.\nSmith"]),
        ],
        decide: Some(title),
    },
    Rule {
        name: "abbreviations",
        says: "Inc., Ltd., Co., Jr., St., al., months and the like, and letters with full stops (U.S., Ph.D., a.m.), \
               end a sentence only before a capitalized word that often begins a sentence (The, In, He, However, …). \
               After etc. any capital begins a sentence.",
        examples: &[
            ("The U.S. Army left St. Louis on Jan. 5.", &["The U.S. Army left St. Louis on Jan. 5."]),
            (
                "He works for Acme Inc. The firm is in the U.S. It grows.",
                &["He works for Acme Inc.", "The firm is in the U.S.", "It grows."],
            ),
            ("Smith et al. (2010) said so.", &["Smith et al. (2010) said so."]),
            ("Mail me@x.org. Peter has a Ph.D. Thesis.", &["Mail me@x.org.", "Peter has a Ph.D. Thesis."]),
            (
                "Pens, ink, etc. Paper, too. And so on etc. and so on.",
                &["Pens, ink, etc.", "Paper, too.", "And so on etc. and so on."],
            ),
        ],
        decide: Some(abbreviation),
    },
    Rule {
        name: "initials",
        says: "A single capital with a full stop ends no sentence before a capital. There are two exceptions: a word \
               follows that often begins a sentence, or the single capital is I after a lower-case word.",
        examples: &[
            ("J. R. R. Tolkien and A. A. Milne wrote.", &["J. R. R. Tolkien and A. A. Milne wrote."]),
            ("This is plan B. The next is C.", &["This is plan B.", "The next is C."]),
            ("So did I. Peter left.", &["So did I.", "Peter left."]),
        ],
        decide: Some(initial),
    },
    Rule {
        name: "quoted exclamation",
        says: "! or ? with a closing sign ends no sentence before a lower-case letter.",
        examples: &[("He said \"Stop!\" and left. (Why?) no idea", &["He said \"Stop!\" and left.", "(Why?) no idea"])],
        decide: Some(quoted_exclamation),
    },
    Rule {
        name: "brackets in a sentence",
        says: "A terminator inside a bracket or a book title ends no sentence if the sentence began before the bracket \
               and a letter without case follows.",
        examples: &[
            ("他（真的吗？）走了。好。", &["他（真的吗？）走了。", "好。"]),
            ("我读《你好吗？》这本书。", &["我读《你好吗？》这本书。"]),
            ("（他走了。）我也走了。", &["（他走了。）", "我也走了。"]),
        ],
        decide: Some(bracket),
    },
    Rule {
        name: "lower case",
        says: "A full stop ends no sentence before a lower-case letter. But after a plain word it ends one before a \
               lower-case letter, and also before a digit. A plain word has four letters or more, all in lower case, \
               and is no known abbreviation.",
        examples: &[
            ("approx. ten and ed. by him", &["approx. ten and ed. by him"]),
            ("i like it here. thanks a lot", &["i like it here.", "thanks a lot"]),
            ("That was last year. 5 runners won.", &["That was last year.", "5 runners won."]),
            ("wrapped after the ca.\nten", &["wrapped after the ca.\nten"]),
        ],
        decide: Some(lower_case),
    },
    Rule {
        name: "short line",
        says: "A line break without terminator ends a sentence if the next word does not begin with a lower-case \
               letter, and the line and that word together would have filled at most half of the widest line of the \
               paragraph.",
        examples: &[(
            "ABSTRACT\nThis text is about something that takes a while\nto tell",
            &["ABSTRACT", "This text is about something that takes a while\nto tell"],
        )],
        decide: Some(short_line),
    },
    Rule {
        name: "wrapped line",
        says: "Any other single line break without terminator ends no sentence.",
        examples: &[("a sentence that\ngoes on here. End", &["a sentence that\ngoes on here.", "End"])],
        decide: Some(wrapped_line),
    },
];

/// Titles, which end no sentence. They count with a capital only, since some are words or other abbreviations without
/// one. Like all word lists here, this list is in lower case and in order.
const TITLES: &[&str] = &[
    "adm", "brig", "capt", "cmdr", "col", "cpl", "cpt", "dr", "fr", "frl", "gen", "gov", "herr", "hon", "hr", "lt",
    "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mx", "pfc", "pres", "prof", "profs", "pvt", "rep", "reps",
    "rev", "sen", "sens", "sgt", "sir", "sra", "srta", "supt",
];

/// Abbreviations that end no sentence.
const NEVER: &[&str] = &["bzw", "cf", "d.h", "e.g", "eg", "i.e", "ie", "viz", "vs", "z.b"];

/// Abbreviations that end a sentence only before a word that often begins one.
const ABBREVIATIONS: &[&str] = &[
    "al", "apr", "assn", "aug", "ave", "bldg", "blvd", "bros", "co", "corp", "dec", "dept", "ed", "eds", "esp", "esq",
    "est", "excl", "feb", "ft", "gmbh", "govt", "hrsg", "ibid", "inc", "incl", "inst", "intl", "jan", "jr", "jun",
    "ltd", "mt", "nov", "oct", "prov", "rd", "resp", "sep", "sept", "sr", "st", "trans", "univ",
];

/// Abbreviations that end no sentence before a digit. Those of the second list do not end one before a capital or a
/// Roman number that stands alone, either.
const BEFORE_DIGITS: &[&str] = &[
    "abs", "approx", "bd", "ca", "ed", "ext", "jg", "jul", "ll", "lot", "mar", "no", "nos", "nr", "p", "pp", "tel",
    "ver",
];
const BEFORE_NUMBERS: &[&str] = &[
    "app", "art", "arts", "ch", "chap", "chaps", "eq", "eqs", "fig", "figs", "para", "paras", "pt", "ref", "refs",
    "sec", "secs", "sect", "tab", "vol", "vols",
];

/// Words that often begin a sentence and are rarely a name, in their exact spelling.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "A", "About", "According", "After", "All", "Also", "Although", "Among", "An", "And", "Another", "Any", "As",
    "At", "Because", "Before", "Besides", "Both", "But", "By", "Can", "Could", "Das", "Der", "Despite", "Did",
    "Die", "Do", "Does", "During", "Each", "Ein", "Eine", "Either", "El", "Elle", "Er", "Es", "Even", "Every",
    "Finally", "First", "For", "From", "Further", "Furthermore", "Had", "Has", "Have", "He", "Hence", "Her", "Here",
    "His", "How", "However", "I", "If", "Il", "Ils", "Im", "In", "Instead", "Is", "It", "Its", "Just", "La", "Last",
    "Later", "Le", "Les", "Let", "Like", "Many", "Maybe", "Meanwhile", "More", "Moreover", "Most", "Much", "My",
    "Neither", "Nevertheless", "No", "None", "Nor", "Not", "Nothing", "Now", "Of", "On", "Once", "One", "Only",
    "Or", "Other", "Others", "Our", "Over", "Perhaps", "Please", "Several", "She", "Should", "Sie", "Similarly",
    "Since", "So", "Some", "Still", "Such", "Thanks", "That", "The", "Their", "Then", "There", "Therefore", "These",
    "They", "This", "Those", "Though", "Through", "Thus", "To", "Today", "Two", "Un", "Under", "Une", "Unless",
    "Until", "Upon", "Was", "We", "Were", "What", "When", "Where", "Whether", "Which", "While", "Who", "Why",
    "With", "Within", "Without", "Would", "Yes", "Yet", "You", "Your",
];

/// The number of characters around a gap that are examined for a word, and for a possible URL.
const WORD: usize = 24;
const ADDRESS: usize = 80;

/// The greatest width in columns of a wrapped line.
const WRAPPED: usize = 140;

/// A place where a sentence may end: `… text[mark..stop] text[stop..end]` white space `text[start..] …`.
struct Gap<'a> {
    text: &'a str,
    /// The language of the text, if it has rules of its own.
    language: Option<&'static Language>,
    /// The start of the sentence that may end here.
    sentence: usize,
    /// The start of the terminators; `stop` if there are none.
    mark: usize,
    /// The end of the terminators.
    stop: usize,
    /// The end of the closing signs, which is the end of the sentence if it ends here.
    end: usize,
    /// The start of the next sentence if this one ends here.
    start: usize,
    /// The number of line breaks in the white space.
    lines: usize,
    /// The line before the gap, if the white space has a single line break.
    line: Option<Line>,
    /// True if UAX #29 breaks here.
    unicode: bool,
}

/// A line, and its paragraph.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    columns: usize,
    paragraph: Paragraph,
}

/// The measures of the lines up to a blank one.
#[derive(Clone, Copy, Default)]
struct Paragraph {
    end: usize,
    width: usize,
    unwrapped: bool,
}

/// The kind of character that the next sentence would begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Initial {
    Lower,
    Upper,
    Digit,
    /// A letter of a script without case.
    Letter,
    Other,
}

impl<'a> Gap<'a> {
    fn terminators(&self) -> &'a str {
        &self.text[self.mark..self.stop]
    }

    /// Returns true if the terminator is a single full stop.
    fn is_full_stop(&self) -> bool {
        self.terminators() == "."
    }

    fn has_space(&self) -> bool {
        self.start > self.end
    }

    fn before(&self) -> &'a str {
        &self.text[self.sentence..self.mark]
    }

    /// Returns the letters and inner full stops right before the terminator; empty if there are too many to be a word.
    fn word_before(&self) -> &'a str {
        let before = self.before();
        let mut start = before.len();
        for (n, c) in before.chars().rev().enumerate() {
            if !c.is_alphabetic() && c != '.' {
                break;
            }
            if n == WORD {
                return "";
            }
            start -= c.len_utf8();
        }
        before[start..].trim_start_matches('.')
    }

    /// Returns true if the signs here close a sentence, rather than a bracket within one.
    fn is_closed(&self) -> bool {
        let signs = &self.text[self.stop..self.end];
        let bracket = signs.chars().all(|c| matches!(c, ')' | ']'));
        !signs.is_empty() && (!bracket || self.text[self.sentence..].starts_with(is_opening))
    }

    /// Returns the text after the gap, without the signs that open it.
    fn after(&self) -> &'a str {
        let mut rest = &self.text[self.start..];
        for _ in 0..4 {
            match rest.chars().next() {
                Some(c) if is_opening(c) || matches!(c, '*' | '_' | '¿' | '¡') => rest = &rest[c.len_utf8()..],
                _ => break,
            }
        }
        rest
    }

    fn initial(&self) -> Initial {
        self.after().chars().next().map_or(Initial::Other, initial_of)
    }

    /// Returns the letters that follow, at most as many as a word may have.
    fn word_after(&self) -> &'a str {
        let after = self.after();
        let end = after.chars().take(WORD).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
        &after[..end]
    }

    /// Returns true if the next word often begins a sentence and is no initial.
    fn starter_follows(&self) -> bool {
        let word = self.word_after();
        STARTERS.binary_search(&word).is_ok() && !self.after()[word.len()..].starts_with('.')
    }

    /// Returns true if the gap is inside a URL, an e-mail address, a path or a dotted name.
    fn is_in_address(&self) -> bool {
        let odd = |c| matches!(c, '/' | '\\' | '@' | '_' | '=' | '&');
        let mut behind = '.';
        for c in self.text[..self.mark].chars().rev().take_while(|c| !c.is_whitespace()).take(ADDRESS) {
            if odd(c) || (c == '.' && behind.is_ascii_alphanumeric()) {
                return true;
            }
            behind = c;
        }
        let mut dotted = false;
        for c in self.text[self.stop..].chars().take_while(|c| !c.is_whitespace()).take(ADDRESS) {
            if odd(c) || (dotted && c.is_ascii_alphanumeric()) {
                return true;
            }
            dotted = c == '.' && self.is_full_stop();
        }
        false
    }
}

fn initial_of(c: char) -> Initial {
    if c.is_lowercase() {
        Initial::Lower
    } else if c.is_uppercase() {
        Initial::Upper
    } else if c.is_numeric() {
        Initial::Digit
    } else if c.is_alphabetic() {
        Initial::Letter
    } else {
        Initial::Other
    }
}

fn blank_line(gap: &Gap<'_>) -> Option<Verdict> {
    (gap.lines > 1).then_some(Break)
}

fn line_of_signs(gap: &Gap<'_>) -> Option<Verdict> {
    let line = gap.line?;
    let mut next = gap.text[gap.start..].chars().take_while(|&c| breaks_line(c) == 0);
    let words = has_word(&gap.text[line.start..gap.end]) && next.any(char::is_alphanumeric);
    (!words).then_some(Break)
}

fn list_item(gap: &Gap<'_>) -> Option<Verdict> {
    let line = gap.line?;
    let next = list_sign(&gap.text[gap.start..])?;
    // The second initial of a name.
    if gap.is_full_stop() && gap.word_before().chars().next_back().is_some_and(char::is_uppercase) && next.letter {
        return None;
    }
    let text = &gap.text[line.start..gap.end];
    let goes_on = text.ends_with(['.', ':', ';', ',', '!', '?', '。', '：', '；', '，', '！', '？'])
        || [" and", " or"].iter().any(|word| text.ends_with(word));
    if goes_on || line.paragraph.width < 50 || 4 * line.columns <= 3 * line.paragraph.width {
        return Some(Break);
    }
    list_sign(text)?;
    let sign = text.chars().next().filter(|c| matches!(c, '*' | '#'));
    let rest = gap.text[gap.start + next.length..].trim_start();
    let comment = sign.is_some()
        && gap.text[gap.start..].chars().next() == sign
        && rest.chars().next().is_some_and(char::is_lowercase);
    (!comment).then_some(Break)
}

fn list_number(gap: &Gap<'_>) -> Option<Verdict> {
    let so_far = &gap.text[gap.sentence..gap.end];
    if so_far.len() <= 32 {
        let number = so_far.trim_start_matches(['#', '*', '_', '-', ' ', '\t']);
        if list_sign(&gap.text[gap.end - number.len()..]).is_some_and(|sign| sign.length == number.len()) {
            return Some(Join);
        }
    }
    let before = gap.before();
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = before.len() - rest.len();
    let numbered = gap.is_full_stop() && (1..=2).contains(&digits) && rest.ends_with([' ', '\n']);
    (numbered && gap.lines < 2 && rest[..rest.len() - 1].ends_with([':', ';', ','])).then_some(Join)
}

fn unwrapped_line(gap: &Gap<'_>) -> Option<Verdict> {
    let goes_on = gap.mark == gap.stop && gap.initial() == Initial::Lower;
    (gap.line?.paragraph.unwrapped && !goes_on).then_some(Break)
}

fn ellipsis(gap: &Gap<'_>) -> Option<Verdict> {
    let marks = gap.terminators();
    let stops = marks.chars().all(|c| matches!(c, '.' | '…'));
    if !stops || !(marks.contains('…') || marks.len() > 1) {
        return None;
    }
    match gap.initial() {
        Initial::Lower | Initial::Digit => Some(Join),
        Initial::Letter if !gap.has_space() => Some(Join),
        Initial::Upper if gap.has_space() || !gap.is_in_address() => Some(Break),
        _ => None,
    }
}

fn no_space(gap: &Gap<'_>) -> Option<Verdict> {
    if gap.has_space() || !gap.terminators().ends_with(['.', '!', '?']) {
        return None;
    }
    match gap.initial() {
        Initial::Letter if gap.unicode && !gap.is_in_address() => Some(Break),
        Initial::Upper => {
            let capitalized = match gap.word_after() {
                "A" | "I" => true,
                word => word.chars().nth(1).is_some_and(char::is_lowercase),
            };
            let closed = gap.end > gap.stop;
            let last = gap.before().chars().next_back();
            let ends = closed
                || last.is_some_and(|c| matches!(c, ')' | ']' | '%' | '"' | '”' | '’'))
                || (!gap.is_full_stop() && last.is_some_and(char::is_alphanumeric))
                || gap.before().chars().rev().take(2).filter(|c| c.is_lowercase()).count() == 2;
            Some(if capitalized && ends && !gap.is_in_address() { Break } else { Join })
        }
        _ => Some(Join),
    }
}

fn number_follows(gap: &Gap<'_>) -> Option<Verdict> {
    if !gap.is_full_stop() || !gap.has_space() {
        return None;
    }
    let word = Lower::of(gap.word_before());
    let joins = match gap.initial() {
        Initial::Digit => word.is_in(BEFORE_DIGITS) || word.is_in(BEFORE_NUMBERS),
        Initial::Upper if word.is_in(BEFORE_NUMBERS) => {
            let next = gap.word_after();
            next.chars().count() == 1 || next.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C'))
        }
        _ => false,
    };
    joins.then_some(Join)
}

fn title(gap: &Gap<'_>) -> Option<Verdict> {
    if !gap.is_full_stop() || gap.end > gap.stop {
        return None;
    }
    let given = gap.word_before();
    let word = Lower::of(given);
    let title = given.chars().next().is_some_and(char::is_uppercase) && word.is_in(TITLES);
    (title || word.is_in(NEVER)).then_some(Join)
}

fn abbreviation(gap: &Gap<'_>) -> Option<Verdict> {
    if !gap.is_full_stop() || gap.is_closed() || matches!(gap.initial(), Initial::Letter | Initial::Other) {
        return None;
    }
    let word = gap.word_before();
    let address = gap.before()[..gap.before().len() - word.len()].ends_with(['@', '/', '-', '_', '.']);
    let dotted = !address && word.contains('.') && word.split('.').all(|part| matches!(part.chars().count(), 1 | 2));
    ((dotted || Lower::of(word).is_in(ABBREVIATIONS)) && !gap.starter_follows()).then_some(Join)
}

fn initial(gap: &Gap<'_>) -> Option<Verdict> {
    if !gap.is_full_stop() || gap.end > gap.stop || gap.initial() != Initial::Upper || gap.starter_follows() {
        return None;
    }
    let word = gap.word_before();
    let mut letters = word.chars();
    if !letters.next().is_some_and(char::is_uppercase) || letters.next().is_some() {
        return None;
    }
    let before = &gap.before()[..gap.before().len() - word.len()];
    if before.ends_with(char::is_numeric) {
        return None;
    }
    let lower_before = before.trim_end().ends_with(char::is_lowercase)
        && before.split_whitespace().next_back().is_some_and(|word| word.starts_with(char::is_lowercase));
    (word != "I" || !lower_before).then_some(Join)
}

fn quoted_exclamation(gap: &Gap<'_>) -> Option<Verdict> {
    let exclamation = gap.terminators().ends_with(['!', '?', '！', '？']) && gap.end > gap.stop;
    (exclamation && gap.initial() == Initial::Lower).then_some(Join)
}

fn bracket(gap: &Gap<'_>) -> Option<Verdict> {
    let closed = gap.text[gap.stop..gap.end].ends_with([')', ']', '）', '】', '》', '〉', '〕']);
    let opened = gap.text[gap.sentence..].starts_with(is_opening);
    (closed && !opened && !gap.has_space() && gap.initial() == Initial::Letter).then_some(Join)
}

fn lower_case(gap: &Gap<'_>) -> Option<Verdict> {
    let initial = gap.initial();
    if !gap.terminators().ends_with('.') || !matches!(initial, Initial::Lower | Initial::Digit) {
        return None;
    }
    let word = gap.word_before();
    let plain = gap.is_full_stop()
        && gap.end == gap.stop
        && word.chars().count() >= 4
        && word.chars().all(char::is_lowercase)
        && [TITLES, NEVER, ABBREVIATIONS, BEFORE_DIGITS, BEFORE_NUMBERS]
            .iter()
            .all(|list| !Lower::of(word).is_in(list));
    match initial {
        _ if plain => Some(Break),
        Initial::Lower => Some(Join),
        _ => None,
    }
}

fn short_line(gap: &Gap<'_>) -> Option<Verdict> {
    let line = gap.line.filter(|_| gap.mark == gap.stop && gap.initial() != Initial::Lower)?;
    let next = &gap.text[gap.start..];
    let next = match next.chars().next() {
        // Between Chinese characters a line can end anywhere.
        Some(c) if c >= '\u{3000}' => 2,
        _ => next.chars().take(WRAPPED).take_while(|c| !c.is_whitespace()).count(),
    };
    (2 * (line.columns + 1 + next) <= line.paragraph.width).then_some(Break)
}

fn wrapped_line(gap: &Gap<'_>) -> Option<Verdict> {
    (gap.mark == gap.stop && gap.lines == 1).then_some(Join)
}

/// A word in lower case, to be looked up in a list of ASCII words.
struct Lower {
    bytes: [u8; WORD],
    length: usize,
}

impl Lower {
    fn of(word: &str) -> Self {
        let mut lower = Self { bytes: [0; WORD], length: 0 };
        if word.len() <= WORD {
            lower.bytes[..word.len()].copy_from_slice(word.as_bytes());
            lower.bytes.make_ascii_lowercase();
            lower.length = word.len();
        }
        lower
    }

    fn is_in(&self, list: &[&str]) -> bool {
        let word = &self.bytes[..self.length];
        list.binary_search_by(|entry| entry.as_bytes().cmp(word)).is_ok()
    }
}

/// A bullet or list number.
struct ListSign {
    length: usize,
    /// True if the sign is a single capital with a full stop, like an initial.
    letter: bool,
}

/// Returns the bullet or list number that a line begins with: `•`, `-`, `##`, `1.`, `2.1.`, `(a)`, `iv)`, `一、`, `第二条`.
fn list_sign(line: &str) -> Option<ListSign> {
    let sign = |length| ListSign { length, letter: false };
    let spaced = |length: usize| line[length..].chars().next().is_none_or(char::is_whitespace);
    let chinese = |c: &char| "一二三四五六七八九十百零〇".contains(*c);
    let first = line.chars().next()?;
    match first {
        _ if "•‣◦▪▫■□●○◆◇►▶➢✓✔∙①②③④⑤⑥⑦⑧⑨⑩".contains(first) => {
            return Some(sign(first.len_utf8()));
        }
        '-' | '*' | '+' | '–' | '—' | '·' => return spaced(first.len_utf8()).then(|| sign(first.len_utf8())),
        '#' => {
            let length = line.bytes().take(7).take_while(|&b| b == b'#').count();
            return (length <= 6 && spaced(length)).then(|| sign(length));
        }
        '第' => {
            let number = line.chars().skip(1).take(6).take_while(|c| chinese(c) || c.is_ascii_digit());
            let unit = first.len_utf8() + number.map(char::len_utf8).sum::<usize>();
            let ends = line[unit..].chars().next().filter(|c| "条章节篇款部".contains(*c))?;
            return (unit > first.len_utf8()).then(|| sign(unit + ends.len_utf8()));
        }
        _ => {}
    }
    let open = if matches!(first, '(' | '（' | '[') { first.len_utf8() } else { 0 };
    let body = line[open..].chars().take(16).take_while(|c| c.is_ascii_alphanumeric() || *c == '.' || chinese(c));
    let stop = open + body.map(char::len_utf8).sum::<usize>();
    let stopped = line[open..stop].strip_suffix('.');
    let name = stopped.unwrap_or(&line[open..stop]);
    let dotted = name.split('.').all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    let single = name.len() == 1 && name.bytes().all(|b| b.is_ascii_alphabetic());
    let made_of = |digits: &[u8]| (1..=5).contains(&name.len()) && name.bytes().all(|b| digits.contains(&b));
    let known = dotted || single || made_of(b"ivx") || made_of(b"IVX");
    let counted = matches!(name.chars().count(), 1..=3) && name.chars().all(|c| chinese(&c));
    match line[stop..].chars().next() {
        Some(close @ (')' | '）' | ']' | '、')) => {
            let length = stop + close.len_utf8();
            let ends = matches!(close, '）' | '、') || spaced(length);
            ((known || counted) && stopped.is_none() && ends).then(|| sign(length))
        }
        _ if open > 0 || !spaced(stop) => None,
        _ if stopped.is_some() => {
            let letter = single && name.bytes().all(|b| b.is_ascii_uppercase());
            known.then_some(ListSign { length: stop, letter })
        }
        // `2.1 Scope`
        _ => {
            let next = line[stop..].trim_start().chars().next().map(initial_of);
            let capital = matches!(next, Some(Initial::Upper | Initial::Letter));
            (dotted && name.contains('.') && capital).then(|| sign(stop))
        }
    }
}

fn has_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Returns the number of line breaks that a character counts for: U+2029 is a blank line.
fn breaks_line(c: char) -> usize {
    match c {
        '\n' | '\r' | '\u{85}' | '\u{2028}' => 1,
        '\u{2029}' => 2,
        _ => 0,
    }
}

/// Returns the number of line breaks in white space; CR LF is one.
fn count_lines(white: &str) -> usize {
    white.chars().map(breaks_line).sum::<usize>() - white.matches("\r\n").count()
}

fn is_opening(c: char) -> bool {
    match c {
        '"' | '\'' | '“' | '‘' | '„' | '‚' | '«' | '‹' | '(' | '[' | '{' => true,
        '「' | '『' | '（' | '《' | '〈' | '【' | '〔' => true,
        // Left-to-right and right-to-left embeddings and isolates, and the byte order mark.
        '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' | '\u{2066}'..='\u{2068}' | '\u{feff}' => true,
        _ => false,
    }
}

/// Returns true if a sign closes wherever it stands.
fn is_closing(c: char) -> bool {
    match c {
        ')' | ']' | '}' | '”' | '’' | '»' | '›' => true,
        '」' | '』' | '）' | '》' | '〉' | '】' | '〕' | '］' | '｝' => true,
        // Numbers of footnotes.
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' => true,
        // Zero-width spaces and marks, and the ends of embeddings and isolates.
        '\u{200b}'..='\u{200f}' | '\u{202c}' | '\u{2069}' => true,
        _ => false,
    }
}

/// Returns the length of the terminator at byte `i`, or 0.
fn terminator(bytes: &[u8], i: usize) -> usize {
    match bytes[i] {
        b'.' | b'!' | b'?' => 1,
        0xE2..=0xEF => match bytes.get(i..i + 3) {
            // … 。 ！ ． ？ ｡
            Some([0xE2, 0x80, 0xA6] | [0xE3, 0x80, 0x82] | [0xEF, 0xBC, 0x81 | 0x8E | 0x9F] | [0xEF, 0xBD, 0xA1]) => 3,
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns the approximate width of a text on a terminal: Chinese, Japanese and Korean characters are two columns wide.
fn columns(text: &str) -> usize {
    text.bytes().map(|b| usize::from(b & 0xC0 != 0x80) + usize::from((0xE3..0xF0).contains(&b))).sum()
}

/// Returns the sentences of `text`, by the rules of the language that is detected.
pub(crate) fn split(text: &str) -> impl Iterator<Item = Range<usize>> {
    split_in(LanguageChoice::Detected, text)
}

/// Returns the sentences of `text` in order: disjoint ranges of bytes without white space at either end. All text
/// outside of them is white space.
pub(crate) fn split_in(language: LanguageChoice, text: &str) -> impl Iterator<Item = Range<usize>> {
    split_by(RULES, text, language.for_text(text))
}

fn split_by<'a>(rules: &'a [Rule], text: &'a str, language: Option<&'static Language>) -> Splitter<'a> {
    let first = text.len() - text.trim_start().len();
    let mut breaks = SentenceSegmenter::new(Default::default()).segment_str(text);
    let next_break = breaks.next().unwrap_or(text.len());
    Splitter {
        rules,
        text,
        language,
        breaks,
        next_break,
        next_mark: first,
        at: first,
        sentence: first,
        checked: first,
        line: first,
        paragraph: Paragraph::default(),
        quotes: first,
        quoted: false,
        last: None,
        done: None,
        ended: false,
    }
}

/// The state of the split up to the current gap.
struct Splitter<'a> {
    rules: &'a [Rule],
    text: &'a str,
    language: Option<&'static Language>,
    /// The Unicode breaks behind `next_break`.
    breaks: SentenceBreakIterator<'static, 'a, Utf8>,
    next_break: usize,
    /// The place of the next terminator, if it is behind `at`.
    next_mark: usize,
    /// The end of the last gap.
    at: usize,
    /// The start of the current sentence.
    sentence: usize,
    /// The place up to which the sentence has no letter or digit, unless it is the start of the sentence.
    checked: usize,
    /// The start of the line, without its indentation.
    line: usize,
    paragraph: Paragraph,
    /// The place up to which straight quotes are counted. `quoted` is true if one is open there.
    quotes: usize,
    quoted: bool,
    /// The previous sentence, to which text without words is added.
    last: Option<Range<usize>>,
    /// The sentence before `last`, if it is not returned yet.
    done: Option<Range<usize>>,
    ended: bool,
}

impl Iterator for Splitter<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while !self.ended {
            self.step();
            if self.done.is_some() {
                return self.done.take();
            }
        }
        self.last.take()
    }
}

impl<'a> Splitter<'a> {
    /// Decides on the next gap.
    fn step(&mut self) {
        let (text, at) = (self.text, self.at);
        while self.next_break <= at && self.next_break < text.len() {
            self.next_break = self.breaks.next().unwrap_or(text.len());
        }
        if self.next_mark <= at {
            self.next_mark = (at..text.len()).find(|&i| terminator(text.as_bytes(), i) > 0).unwrap_or(text.len());
        }
        let mut gap = if self.next_mark < self.next_break {
            self.gap_at_terminator(self.next_mark)
        } else if self.next_break < text.len() {
            self.gap_at_break(self.next_break)
        } else {
            return self.finish();
        };
        if gap.start == text.len() {
            return self.finish();
        }
        // A Unicode break may be behind signs that open.
        let reach = text.len() - gap.after().len();
        while self.next_break <= reach && self.next_break < text.len() {
            gap.unicode |= self.next_break > gap.mark;
            self.next_break = self.breaks.next().unwrap_or(text.len());
        }
        self.at = gap.start;
        // `"No!".` is decided at its last terminator.
        if gap.has_space() || terminator(text.as_bytes(), gap.start) == 0 {
            let verdict = self.rules.iter().filter_map(|rule| rule.decide).find_map(|decide| decide(&gap));
            let ends = verdict.map_or(gap.unicode, |verdict| verdict == Break);
            self.pass(&gap, ends);
        }
    }

    fn gap_at_terminator(&mut self, mark: usize) -> Gap<'a> {
        let bytes = self.text.as_bytes();
        let mut stop = mark;
        while stop < bytes.len() && terminator(bytes, stop) > 0 {
            stop += terminator(bytes, stop);
        }
        let mut end = self.close(stop);
        let mut start = self.skip_space(end);
        // A sign that can only close closes after a space, too, as in `« Oui ! »`.
        while start > end && self.closes_after_space(start) && count_lines(&self.text[end..start]) == 0 {
            end = self.close(start);
            start = self.skip_space(end);
        }
        self.gap(mark..stop, end..start)
    }

    /// Returns the gap at a Unicode break that follows none of our terminators: a line break or another script's
    /// terminator.
    fn gap_at_break(&mut self, at: usize) -> Gap<'a> {
        let end = self.sentence + self.text[self.sentence..at].trim_end().len();
        let start = self.skip_space(at);
        let stop = self.sentence + self.text[self.sentence..end].trim_end_matches(is_closing).len();
        let last = self.text[self.sentence..stop].chars().next_back();
        let terminates = |c: &char| {
            matches!(CodePointMapData::<SentenceBreak>::new().get(*c), SentenceBreak::STerm | SentenceBreak::ATerm)
        };
        let marks = match last.filter(terminates) {
            Some(c) => stop - c.len_utf8()..stop,
            None => end..end,
        };
        Gap { unicode: true, ..self.gap(marks, end..start) }
    }

    fn gap(
        &mut self,
        Range { start: mark, end: stop }: Range<usize>,
        Range { start: end, end: start }: Range<usize>,
    ) -> Gap<'a> {
        let lines = count_lines(&self.text[end..start]);
        let line = (lines == 1).then(|| {
            if self.paragraph.end <= end {
                self.paragraph = measure(self.text, self.line);
            }
            Line { start: self.line, columns: columns(&self.text[self.line..end]), paragraph: self.paragraph }
        });
        let Self { text, language, sentence, .. } = *self;
        Gap { text, language, sentence, mark, stop, end, start, lines, line, unicode: false }
    }

    fn skip_space(&self, from: usize) -> usize {
        self.text.len() - self.text[from..].trim_start().len()
    }

    /// Skips the signs at `from` that close. Returns their end.
    fn close(&mut self, from: usize) -> usize {
        let mut end = from;
        while let Some(c) = self.text[end..].chars().next() {
            let behind = &self.text[end + c.len_utf8()..];
            let next = behind.chars().next();
            let open_end = next.is_none_or(|c| c.is_whitespace() || is_closing(c));
            let closes = match c {
                '"' => open_end || self.is_quoted(end),
                '\'' => !next.is_some_and(char::is_alphanumeric),
                '“' | '‘' | '«' | '‹' => open_end || matches!(next, Some(',' | '.' | ';' | ':' | '，' | '。')),
                '*' | '_' | '~' | '`' => open_end || next == Some(c),
                '[' => {
                    let digits = behind.bytes().take(5).take_while(u8::is_ascii_digit).count();
                    if (1..5).contains(&digits) && behind[digits..].starts_with(']') {
                        end += digits + 1;
                        true
                    } else {
                        false
                    }
                }
                _ => is_closing(c),
            };
            if !closes {
                break;
            }
            end += c.len_utf8();
        }
        end
    }

    fn closes_after_space(&mut self, at: usize) -> bool {
        let mut signs = self.text[at..].chars();
        let Some(sign) = signs.next() else { return false };
        let free = signs.next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '，' | '。'));
        free && (is_closing(sign) || (sign == '"' && self.is_quoted(at)))
    }

    /// Returns true if a straight quote is open at `at`.
    fn is_quoted(&mut self, at: usize) -> bool {
        if at > self.quotes {
            let quotes = self.text.as_bytes()[self.quotes..at].iter().filter(|&&b| b == b'"').count();
            self.quoted ^= quotes % 2 == 1;
            self.quotes = at;
        }
        self.quoted
    }

    fn pass(&mut self, gap: &Gap<'_>, ends: bool) {
        if ends && self.emit(gap.end) {
            self.sentence = gap.start;
            self.checked = gap.start;
        }
        if gap.lines > 0 {
            self.line = gap.start;
            if ends {
                // A quote that is never closed must not flip the quotes of all later paragraphs.
                self.quotes = gap.start;
                self.quoted = false;
            }
        }
    }

    /// Ends the sentence at `end`, unless it has no words and no sentence is before it. Returns true if it has ended.
    fn emit(&mut self, end: usize) -> bool {
        if has_word(&self.text[self.checked..end]) {
            self.done = self.last.replace(self.sentence..end);
        } else if let Some(last) = &mut self.last {
            last.end = end;
        } else {
            self.checked = end;
            return false;
        }
        true
    }

    fn finish(&mut self) {
        let end = self.sentence + self.text[self.sentence..].trim_end().len();
        if end > self.sentence && !self.emit(end) {
            self.last = Some(self.sentence..end);
        }
        self.ended = true;
    }
}

/// Measures the lines from `from` on, up to a blank one.
fn measure(text: &str, from: usize) -> Paragraph {
    let mut paragraph = Paragraph { end: from, width: 0, unwrapped: false };
    let (mut all, mut long) = (0, 0);
    for line in text[from..].split_inclusive('\n') {
        let width = columns(line.trim());
        if width == 0 {
            break;
        }
        paragraph.end += line.len();
        paragraph.width = paragraph.width.max(width);
        all += width;
        if width > WRAPPED {
            long += width;
        }
    }
    paragraph.unwrapped = 2 * long > all;
    paragraph
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::text::languages::{language, languages};

    fn sentences<'a>(rules: &[Rule], text: &'a str) -> Vec<&'a str> {
        sentences_in(LanguageChoice::Detected, rules, text)
    }

    fn sentences_in<'a>(language: LanguageChoice, rules: &[Rule], text: &'a str) -> Vec<&'a str> {
        split_by(rules, text, language.for_text(text)).map(|range| &text[range]).collect()
    }

    #[test]
    fn every_rule_does_what_its_examples_say() {
        for rule in RULES {
            assert!(!rule.says.is_empty() && !rule.examples.is_empty(), "{} says nothing", rule.name);
            for (text, expected) in rule.examples {
                assert_eq!(sentences(RULES, text), *expected, "{}", rule.name);
            }
        }
    }

    #[test]
    fn every_language_does_what_its_examples_say() {
        for language in languages() {
            assert!(language.examples.len() >= 8, "{} says little", language.name);
            let given = LanguageChoice::Given(language);
            let found = language.examples.iter().map(|(text, _)| sentences_in(given, RULES, text));
            let expected = language.examples.iter().map(|(_, sentences)| sentences.to_vec());
            let wrong: Vec<_> = found.zip(expected).filter(|(found, expected)| found != expected).collect();
            assert!(wrong.is_empty(), "{}: {wrong:#?}", language.name);
            let differs =
                |(text, expected): &(&str, &[&str])| sentences_in(LanguageChoice::Common, RULES, text) != *expected;
            assert!(language.examples.iter().any(differs), "no example needs the rules of {}", language.name);
        }
    }

    #[test]
    fn english_and_chinese_are_the_same_with_and_without_detection() {
        let texts = RULES.iter().take_while(|rule| rule.name != "reporting clause");
        let texts = texts.chain(RULES.iter().skip_while(|rule| rule.name != "ellipsis"));
        for (text, expected) in texts.flat_map(|rule| rule.examples) {
            assert_eq!(sentences_in(LanguageChoice::Common, RULES, text), *expected);
        }
        let english =
            "The motion was No. 12 on the list, and it failed. “Stop!” he said. The U.S. Army is in St. Louis. ";
        let chinese = "他说：“你好。”然后走了。真的吗？是；对。";
        for text in [english.repeat(100), chinese.repeat(100), format!("{english}{chinese}")] {
            assert_eq!(
                sentences_in(LanguageChoice::Detected, RULES, &text),
                sentences_in(LanguageChoice::Common, RULES, &text)
            );
        }
    }

    #[test]
    fn without_the_rule_its_examples_come_out_otherwise() {
        for off in RULES.iter().filter(|rule| rule.decide.is_some()) {
            let rest: Vec<Rule> = RULES.iter().copied().filter(|rule| rule.name != off.name).collect();
            let differs = off.examples.iter().any(|(text, expected)| sentences(&rest, text) != *expected);
            assert!(differs, "no example needs the rule '{}'", off.name);
        }
    }

    #[test]
    fn the_word_lists_are_in_order() {
        for list in [TITLES, NEVER, ABBREVIATIONS, BEFORE_DIGITS, BEFORE_NUMBERS, STARTERS] {
            for pair in list.windows(2) {
                assert!(pair[0] < pair[1], "{pair:?}");
            }
        }
    }

    #[test]
    fn nothing_and_white_space_have_no_sentences() {
        for text in ["", " ", "\n\n", "\u{3000}\u{a0}\r\n\t\u{2029}"] {
            assert_eq!(sentences(RULES, text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn signs_alone_are_one_sentence() {
        assert_eq!(sentences(RULES, "  ...\n\n?! "), ["...\n\n?!"]);
        assert_eq!(sentences(RULES, "\u{feff}"), ["\u{feff}"]);
    }

    #[test]
    fn control_characters_are_text() {
        assert_eq!(
            sentences(RULES, "\0One. Two.\u{200f} \u{202e}Three."),
            ["\0One.", "Two.\u{200f}", "\u{202e}Three."]
        );
    }

    /// Guards against n² steps: an algorithm that took a second for 10,000 characters would take hours here.
    #[test]
    fn the_time_is_linear_on_hostile_text() {
        #[rustfmt::skip]
        let pieces = [
            "x", ".", ". ", "..\n", "\n", "-\n\n", "-\u{2028}", ".\u{2028}", "a\n", "\"", ".\"", ". \" ", ".)",
            ")", ". » ", "\u{300}", "a.\u{300}", "。", "。「", "1.", "1. ", "a.B", "a.Bc", "I. ", "#", "# ", "#. ",
            "- . ", "1", ". 1 ", "?", "(?)字", "[1]", ".[1]", "U.S. ", "\0", "\u{202e}", "字", "ไทย", "\u{feff}",
            "।", "।) ", "\r", "\t", "e.g. ", ": 1. A ", "Fig. ABCDEFGHIJKLMNOPQRSTUVWXYZ ", "1.\n", "I. aI. ",
            "😀", "\u{85}.",
        ];
        let repeated = |piece: &str| piece.repeat(1_000_000 / piece.len());
        let started = Instant::now();
        for piece in pieces {
            sentences(RULES, &repeated(piece));
            sentences(RULES, &format!("a{}", repeated(piece)));
        }
        sentences(RULES, &"x".repeat(10_000_000));
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }

    #[test]
    fn the_rules_of_a_language_take_linear_time() {
        let started = Instant::now();
        for piece in
            ["z. B. ", "z.", "a-", "a- ", "B. ", "A.\u{a0}", "1. ", "1. 1. ", "II. ", "usw. D", "! sa ", "」と", "z.  "]
        {
            for code in ["de", "ja", "ru"] {
                let given = LanguageChoice::Given(language(code).unwrap());
                sentences_in(given, RULES, &piece.repeat(200_000 / piece.len()));
            }
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
}
