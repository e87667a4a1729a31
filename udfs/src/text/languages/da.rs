//! Danish, with the lists that Norwegian shares.

use super::{EMPTY, Language};

/// The lists of Danish. They have the words of Norwegian, too, since detection may take one language for the other.
#[rustfmt::skip]
pub(super) const DANISH: Language = Language {
    code: "da",
    name: "Danish",
    examples: &[
        ("Den 5. Juni er fridag. Vi sover længe.", &["Den 5. Juni er fridag.", "Vi sover længe."]),
        (
            "Den 1. maj er det fest. Den 2. Verdenskrig sluttede den 8. Maj.",
            &["Den 1. maj er det fest.", "Den 2. Verdenskrig sluttede den 8. Maj."],
        ),
        ("Der var 12. Derefter gik han.", &["Der var 12.", "Derefter gik han."]),
        (
            "Hun fandt frugt, f. eks. Gråsten og pærer. Der var nødder osv. Alt var friskt.",
            &["Hun fandt frugt, f. eks. Gråsten og pærer.", "Der var nødder osv.", "Alt var friskt."],
        ),
        ("Se s. 5, kap. IV og nr. 2. Der står det.", &["Se s. 5, kap. IV og nr. 2.", "Der står det."]),
        (
            "Han bor i Kbh. og døde ca. 44 f. Kr. Derefter kom der fred.",
            &["Han bor i Kbh. og døde ca. 44 f. Kr.", "Derefter kom der fred."],
        ),
        ("Dr. Holm og hr. Lund kom kl. 5. De blev.", &["Dr. Holm og hr. Lund kom kl. 5.", "De blev."]),
        (
            "Det kostede 5 kr. for alle. Det andet kostede 3 kr. Det var billigt.",
            &["Det kostede 5 kr. for alle.", "Det andet kostede 3 kr.", "Det var billigt."],
        ),
        ("»Kom!« sagde han. »Hvorfor?« Hun tav.", &["»Kom!« sagde han.", "»Hvorfor?«", "Hun tav."]),
        (
            "– Kom! sagde han.\n– Hvorfor? – spurgte hun.\n– Nej!",
            &["– Kom! sagde han.", "– Hvorfor? – spurgte hun.", "– Nej!"],
        ),
        ("Det er plan B. Derefter kommer plan C.", &["Det er plan B.", "Derefter kommer plan C."]),
        (
            "Mødet er den 3. 10. 1990 Per og Ole kommer til. Vi ses.",
            &["Mødet er den 3. 10. 1990 Per og Ole kommer til.", "Vi ses."],
        ),
        ("Det var koldt m. m. Ingen kom.", &["Det var koldt m. m.", "Ingen kom."]),
    ],
    never_last: &[
        "Chr", "Dr", "Fr", "Hr", "Prof", "Sct", "Skt", "Th", "ang", "bl.a", "cand", "d.v.s", "dr", "dvs", "ekskl",
        "evt", "f.eks", "fr", "fx", "hhv", "hr", "iflg", "inkl", "jf", "jfr", "jur", "kgl", "m.a.o", "m.h.t", "mht",
        "p.g.a", "pga", "prof", "s.k", "stud", "vedr",
    ],
    before_numbers: &[
        "afsn", "apr", "art", "aug", "avsn", "bd", "ca", "dec", "des", "feb", "fig", "jan", "jul", "jun", "kap", "kl",
        "mar", "nov", "nr", "okt", "pkt", "s", "sept", "stk", "tlf", "årg",
    ],
    rarely_last: &["Kbh", "afd", "e.Kr", "f.Kr", "kr", "maks", "mia", "mill", "mio", "mrd", "pct", "pst"],
    often_last: &["etc", "m.fl", "m.m", "m.v", "mfl", "mv", "o.l", "o.s.v", "osv"],
    no_abbreviations: &["al", "ed", "est"],
    starters: &[
        "alle", "både", "da", "de", "den", "denne", "der", "derefter", "deres", "deretter", "derfor", "dessuten",
        "desuden", "det", "dette", "disse", "dog", "du", "efter", "ei", "eller", "en", "endelig", "er", "et", "etter",
        "for", "fordi", "fra", "før", "først", "han", "hans", "hendes", "hennes", "her", "hun", "hva", "hvad", "hvem",
        "hver", "hvis", "hvor", "hvordan", "hvorfor", "i", "ikke", "ingen", "ja", "jeg", "likevel", "mange", "med",
        "men", "mens", "min", "nei", "nej", "noen", "nogle", "nu", "nå", "når", "og", "også", "om", "på", "senere",
        "siden", "sidst", "sist", "så", "til", "under", "var", "ved", "vi", "vores", "vår",
    ],
    after_ordinals: &[
        "apr", "april", "aug", "august", "dec", "december", "del", "des", "desember", "division", "divisjon", "etage",
        "etasje", "feb", "februar", "gang", "jan", "januar", "juli", "juni", "kapitel", "kapittel", "klasse", "mai",
        "maj", "mar", "mars", "marts", "nov", "november", "okt", "oktober", "plads", "plass", "rekke", "række", "sal",
        "sept", "september", "udgave", "utgave", "verdenskrig", "verdenskrigen", "verdenskrigs", "århundre",
        "århundrede", "århundredes", "århundret",
    ],
    reporting_verbs: &[
        "hviskede", "hvisket", "lo", "mumlede", "mumlet", "roper", "ropte", "råber", "råbte", "sa", "sagde", "sier",
        "siger", "skreg", "skrek", "smilede", "smilte", "spurgte", "spurte", "spør", "spørger", "svarede", "svarer",
        "svarte", "tenkte", "tænkte", "udbrød", "utbrøt",
    ],
    frequent: &[
        "af", "alle", "alt", "anden", "at", "blev", "blive", "bliver", "da", "de", "dem", "den", "denne", "der",
        "deres", "det", "dette", "dig", "dog", "du", "efter", "eller", "en", "er", "et", "for", "fra", "ham", "han",
        "hans", "har", "havde", "have", "hende", "her", "hun", "hvad", "hvor", "ikke", "ind", "jeg", "jo", "kun",
        "kunne", "man", "med", "meget", "mellem", "men", "min", "mine", "mit", "ned", "noget", "nu", "når", "og",
        "også", "om", "op", "os", "over", "på", "selv", "sig", "sin", "skal", "skulle", "som", "så", "til", "ud",
        "under", "var", "vi", "vil", "ville", "være",
    ],
    letters: "æøå",
    ..EMPTY
};
