//! Detection of the language of a text by its frequent words, and of Japanese by its script.

use std::ops::Range;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::others::OTHERS;
use super::{LANGUAGES, Language, language};

/// The size in bytes and the number of the windows of a text that are read. They are spread over a long text; a short
/// text is read whole.
const WINDOW: usize = 250;
const WINDOWS: usize = 4;

/// The fewest frequent words that identify a language, and its least lead over any other language.
const LEAST_WORDS: u32 = 3;
const LEAST_LEAD: u32 = 2;

/// The most words of a text for each frequent word.
const MOST_WORDS_A_HIT: u32 = 8;

/// The fewest kana that identify Japanese, and the most letters for each kana: Chinese text may quote a few kana.
const LEAST_KANA: u32 = 3;
const MOST_LETTERS_A_KANA: u32 = 4;

/// The bytes of a word in lower case, the first one lowest.
type Word = u128;

/// The most bytes a frequent word has.
const WORD: u32 = Word::BITS / 8;

/// A set of languages: one bit for each of `LANGUAGES`, and then of `OTHERS`.
type Set = u32;

const ALL: usize = LANGUAGES.len() + OTHERS.len();

/// The frequent words, and the letters, with the languages that have them.
struct Frequent {
    words: HashMap<Word, Set>,
    letters: HashMap<char, Set>,
}

static FREQUENT: LazyLock<Frequent> = LazyLock::new(|| {
    let mut frequent = Frequent { words: HashMap::new(), letters: HashMap::new() };
    let ours = LANGUAGES.iter().map(|language| (language.frequent, language.letters));
    for (bit, (words, letters)) in ours.chain(OTHERS.iter().map(|other| (other.frequent, other.letters))).enumerate() {
        for word in words {
            let key = word.bytes().rev().fold(0, |key, byte| key << 8 | Word::from(byte));
            *frequent.words.entry(key).or_default() |= 1 << bit;
        }
        for letter in letters.chars() {
            *frequent.letters.entry(letter).or_default() |= 1 << bit;
        }
    }
    frequent
});

/// Detects the language of a text, if the text is clearly in a language that has its own rules for the ends of
/// sentences.
///
/// Returns `None` for English, Chinese, any other language, and text that is too short or mixed. The time is bounded: a
/// thousand bytes of a long text are read.
pub fn language_of(text: &str) -> Option<&'static Language> {
    let mut counts = Counts::default();
    if text.len() <= WINDOWS * WINDOW {
        counts.read(text);
    } else {
        for k in 0..WINDOWS {
            counts.read(&text[window(text, (text.len() - WINDOW) / (WINDOWS - 1) * k)]);
        }
    }
    counts.language()
}

/// Returns the window of a text at `start`, between characters.
fn window(text: &str, start: usize) -> Range<usize> {
    text.floor_char_boundary(start)..text.floor_char_boundary(start + WINDOW)
}

/// A word that is being read.
#[derive(Default)]
struct Reading {
    /// The first bytes of the word.
    word: Word,
    /// The length of the word in bytes.
    length: u32,
    /// The languages that the letters of the word indicate.
    of_letters: Set,
}

impl Reading {
    fn push(&mut self, byte: Word) {
        self.word |= byte.checked_shl(8 * self.length).unwrap_or_default();
        self.length += 1;
    }
}

#[derive(Default)]
struct Counts {
    /// The number of words that count for each language: frequent words, and other words with a letter of the language.
    hits: [u32; ALL],
    words: u32,
    letters: u32,
    kana: u32,
}

impl Counts {
    fn read(&mut self, text: &str) {
        let frequent = &*FREQUENT;
        let mut reading = Reading::default();
        for c in text.chars() {
            if c.is_ascii_alphabetic() {
                reading.push(u32::from(c.to_ascii_lowercase()).into());
                self.letters += 1;
            } else if !c.is_ascii() && c.is_alphabetic() {
                let lower = c.to_lowercase().next().unwrap_or(c);
                lower.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| reading.push(byte.into()));
                reading.of_letters |= frequent.letters.get(&lower).copied().unwrap_or_default();
                self.letters += 1;
                self.kana += u32::from(matches!(c, '\u{3041}'..='\u{30fa}'));
            } else {
                self.end(frequent, std::mem::take(&mut reading));
            }
        }
        self.end(frequent, reading);
    }

    fn end(&mut self, frequent: &Frequent, reading: Reading) {
        self.words += u32::from(reading.length > 0);
        // A single ASCII letter may be a variable or a list item.
        let known = if (2..=WORD).contains(&reading.length) { frequent.words.get(&reading.word) } else { None };
        self.count(known.copied().unwrap_or(reading.of_letters));
    }

    fn count(&mut self, mut set: Set) {
        while set != 0 {
            self.hits[set.trailing_zeros() as usize] += 1;
            set &= set - 1;
        }
    }

    fn language(&self) -> Option<&'static Language> {
        if self.kana >= LEAST_KANA && MOST_LETTERS_A_KANA * self.kana >= self.letters {
            return language("ja");
        }
        let best = (0..ALL).max_by_key(|&k| (self.hits[k], ALL - k))?;
        let found = LANGUAGES.get(best)?;
        let hits = self.hits[best];
        let next = (0..ALL).filter(|&k| !are_close(k, best)).map(|k| self.hits[k]).max().unwrap_or_default();
        let clear = hits >= LEAST_WORDS && hits >= next + LEAST_LEAD && 4 * hits >= 5 * next;
        (clear && MOST_WORDS_A_HIT * hits >= self.words).then_some(found)
    }
}

/// Returns true for a language and itself, and for Danish and Norwegian, which have the same rules.
fn are_close(a: usize, b: usize) -> bool {
    let rules = |k: usize| LANGUAGES.get(k).map(|language| language.starters);
    a == b || (rules(a).is_some() && rules(a) == rules(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&'static str> {
        language_of(text).map(|language| language.code)
    }

    #[test]
    fn words_fit_and_sets_have_room() {
        assert!(ALL <= Set::BITS as usize);
        let ours = LANGUAGES.iter().map(|language| (language.frequent, language.letters));
        for (words, letters) in ours.chain(OTHERS.iter().map(|other| (other.frequent, other.letters))) {
            for word in words {
                assert!((2..=16).contains(&word.len()), "{word}");
                assert!(word.chars().all(char::is_alphabetic) && word.to_lowercase() == *word, "{word}");
            }
            assert!(letters.chars().all(|c| !c.is_ascii() && c.is_lowercase()), "{letters}");
        }
    }

    #[test]
    fn paragraphs_of_each_language_are_told() {
        let paragraphs = [
            (
                "da",
                "Om morgenen gik hun ned til havnen, hvor bådene lå stille. Der var ikke et øje, og kun vinden kunne høres.",
            ),
            (
                "de",
                "Am Morgen ging sie zum Hafen hinunter, wo die Boote still lagen. Niemand war da, und nur der Wind war zu hören.",
            ),
            (
                "es",
                "Por la mañana bajó al puerto, donde los barcos estaban quietos. No había nadie y solo se oía el viento.",
            ),
            (
                "fr",
                "Le matin, elle descendit au port, où les bateaux étaient immobiles. Il n'y avait personne et on n'entendait que le vent.",
            ),
            (
                "it",
                "La mattina scese al porto, dove le barche erano ferme. Non c'era nessuno e si sentiva soltanto il vento.",
            ),
            ("ja", "朝、彼女は港へ下りていった。船は静かに並び、風の音だけが聞こえていた。"),
            (
                "nl",
                "'s Ochtends liep ze naar de haven, waar de boten stil lagen. Er was niemand en alleen de wind was te horen.",
            ),
            (
                "no",
                "Om morgenen gikk hun ned til havnen, hvor båtene lå stille. Det var ikke noen der, og bare vinden kunne høres etter hvert.",
            ),
            (
                "pl",
                "Rano zeszła do portu, gdzie łodzie stały spokojnie. Nikogo tam nie było i słychać było tylko wiatr.",
            ),
            (
                "pt",
                "De manhã ela desceu ao porto, onde os barcos estavam parados. Não havia ninguém e só se ouvia o vento.",
            ),
            (
                "ru",
                "Утром она спустилась к гавани, где лодки стояли неподвижно. Никого не было, и был слышен только ветер.",
            ),
            (
                "sv",
                "På morgonen gick hon ner till hamnen, där båtarna låg stilla. Det fanns inte en människa och bara vinden hördes.",
            ),
        ];
        for (expected, text) in paragraphs {
            let found = code(text);
            assert_eq!(found, Some(expected), "{text}");
            // The windows of a long text give the same language.
            assert_eq!(code(&format!("{text} ").repeat(100)), found, "{text}");
        }
        assert_eq!(paragraphs.len(), LANGUAGES.len());
    }

    #[test]
    fn no_example_is_taken_for_another_language() {
        let alike = |code| if code == "no" { "da" } else { code };
        for language in &LANGUAGES {
            for (text, _) in language.examples {
                assert!(
                    code(text).is_none_or(|found| alike(found) == alike(language.code)),
                    "{:?}: {text}",
                    code(text)
                );
            }
        }
    }

    #[test]
    fn other_text_has_no_language() {
        for text in [
            "",
            " \n",
            "Der Hund.",
            "« Je pars. » Il part.",
            "In the morning she went down to the harbour, where the boats lay still. Nobody was there, and only the wind was heard.",
            "The van der Berg family and Señor de la Cruz met in the bar, as die-hard fans of the band do, in Den Haag.",
            "早上，她走到港口，船都静静地停着。那里没有人，只听得见风声。",
            "他在日本买了一本叫《ねこの本》的书，封面上写着作者的名字，内容是关于猫的故事，他读了很久，觉得很有意思。",
            "Al matí va baixar al port, on les barques eren quietes. No hi havia ningú i només se sentia el vent amb força.",
            "Dimineața a coborât în port, unde bărcile stăteau liniștite. Nu era nimeni și se auzea doar vântul.",
            "Ráno sešla do přístavu, kde lodě klidně stály. Nikdo tam nebyl a bylo slyšet jen vítr, který se zvedal od moře.",
            "Aamulla hän meni alas satamaan, jossa veneet olivat hiljaa. Siellä ei ollut ketään, ja kuului vain tuuli.",
            "Reggel lement a kikötőbe, ahol a hajók mozdulatlanul álltak. Nem volt ott senki, és csak a szél hallatszott.",
            "Вранці вона спустилася до гавані, де човни стояли нерухомо. Нікого не було, і було чути тільки вітер.",
            "Сутринта тя слезе до пристанището, където лодките стояха неподвижно. Нямаше никого и се чуваше само вятърът.",
            "Soggens het sy na die hawe gestap, waar die bote stil gelê het. Daar was niemand nie en net die wind is gehoor.",
            "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, et cum his de bello non agitur.",
            "for (i = 0; i < n; i++) { a[i] = b[i] * c; } let en = de.la(el);",
        ] {
            assert_eq!(code(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_in_two_languages_has_none() {
        let german = "Er ging am Morgen in die Stadt und kam erst am Abend wieder, weil es dort so schön war. ";
        let english = "He went to the town in the morning and came back only at night, since it was so nice there. ";
        assert_eq!(code(&(german.repeat(20) + &english.repeat(20))), None);
        assert_eq!(code(&(english.repeat(20) + &german.repeat(2))), None);
        assert_eq!(code(&(german.repeat(20) + english)), Some("de"));
    }
}
