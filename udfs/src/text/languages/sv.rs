//! Swedish.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const SWEDISH: Language = Language {
    code: "sv",
    name: "Swedish",
    examples: &[
        (
            "Det finns frukt, t. ex. Ingrid Marie och päron. Det finns nötter osv. Allt är färskt.",
            &["Det finns frukt, t. ex. Ingrid Marie och päron.", "Det finns nötter osv.", "Allt är färskt."],
        ),
        (
            "Bl.a. Anna kom, d.v.s. Annas syster. De stannade.",
            &["Bl.a. Anna kom, d.v.s. Annas syster.", "De stannade."],
        ),
        ("Se s. 5, kap. IV och nr 2. Där står det.", &["Se s. 5, kap. IV och nr 2.", "Där står det."]),
        (
            "Staden föll 44 f. Kr. och reste sig. Han dog 14 e. Kr. Sedan kom freden.",
            &["Staden föll 44 f. Kr. och reste sig.", "Han dog 14 e. Kr.", "Sedan kom freden."],
        ),
        ("Dr. Holm och prof. Lund kom kl. 5. De stannade.", &["Dr. Holm och prof. Lund kom kl. 5.", "De stannade."]),
        (
            "Det kostade 5 kr. för alla. Det andra kostade 3 kr. Det var billigt.",
            &["Det kostade 5 kr. för alla.", "Det andra kostade 3 kr.", "Det var billigt."],
        ),
        ("Hon skrev ett prov. Peter skrev två.", &["Hon skrev ett prov.", "Peter skrev två."]),
        (
            "– Kom! sa hon.\n– Varför? frågade han.\n– Nej! – svarade hon.",
            &["– Kom! sa hon.", "– Varför? frågade han.", "– Nej! – svarade hon."],
        ),
        ("”Kom!” sa hon. ”Varför?” Han teg.", &["”Kom!” sa hon.", "”Varför?”", "Han teg."]),
        ("Vi väljer plan B. Därefter kommer plan C.", &["Vi väljer plan B.", "Därefter kommer plan C."]),
        ("Det var 12. Maj var kall.", &["Det var 12.", "Maj var kall."]),
        ("Det var kallt m. m. Ingen kom.", &["Det var kallt m. m.", "Ingen kom."]),
    ],
    never_last: &[
        "Dr", "Hr", "Prof", "ang", "bl.a", "d.v.s", "dr", "dvs", "enl", "ev", "exkl", "f.d", "f.o.m", "fr.o.m", "hr",
        "inkl", "jfr", "jmf", "kand", "m.a.o", "p.g.a", "pga", "prof", "resp", "s.k", "t.ex", "t.o.m",
    ],
    before_numbers: &[
        "apr", "art", "aug", "bd", "ca", "dec", "feb", "febr", "fig", "jan", "kap", "kl", "nov", "nr", "okt", "p", "s",
        "sept", "tab", "tel", "årg",
    ],
    rarely_last: &["avd", "e.Kr", "f.Kr", "kr", "max", "milj", "mkr", "st"],
    often_last: &["etc", "m.fl", "m.m", "mfl", "o.d", "o.dyl", "o.s.v", "osv"],
    no_abbreviations: &["al", "est", "prov"],
    starters: &[
        "alla", "både", "de", "den", "denna", "deras", "dessa", "dessutom", "det", "detta", "dock", "du", "där",
        "därefter", "därför", "då", "efter", "eftersom", "eller", "en", "ett", "från", "för", "före", "först", "han",
        "hans", "hennes", "hon", "hur", "här", "i", "ingen", "inte", "ja", "jag", "med", "medan", "men", "min",
        "många", "nej", "ni", "nu", "när", "några", "och", "också", "om", "på", "sedan", "senare", "sist", "slutligen",
        "så", "till", "under", "vad", "var", "varför", "varje", "vem", "vi", "vid", "vår", "är",
    ],
    reporting_verbs: &[
        "frågade", "frågar", "log", "mumlade", "ropade", "ropar", "sa", "sade", "skrattade", "skrek", "skriker",
        "svarade", "svarar", "säger", "tänkte", "utbrast", "viskade",
    ],
    frequent: &[
        "alla", "annan", "att", "av", "bara", "blev", "bli", "blir", "de", "dem", "den", "denna", "deras", "det",
        "detta", "dig", "du", "där", "då", "efter", "eller", "en", "ett", "fanns", "finns", "från", "för", "gick",
        "ha", "hade", "han", "hans", "har", "henne", "hon", "honom", "här", "in", "inte", "jag", "ju", "kunde", "låg",
        "man", "med", "mellan", "men", "min", "mina", "mycket", "ner", "nu", "när", "någon", "något", "och", "också",
        "om", "oss", "på", "sig", "sin", "själv", "ska", "skulle", "som", "så", "till", "under", "upp", "ut", "utan",
        "vad", "var", "vara", "vi", "vid", "vill", "ville", "är", "över",
    ],
    letters: "äöå",
    ..EMPTY
};
