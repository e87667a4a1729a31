//! Norwegian, which has the lists of Danish except the words that identify it.

use super::Language;
use super::da::DANISH;

#[rustfmt::skip]
pub(super) const NORWEGIAN: Language = Language {
    code: "no",
    name: "Norwegian",
    examples: &[
        ("Den 17. Mai er fridag. Vi sover lenge.", &["Den 17. Mai er fridag.", "Vi sover lenge."]),
        (
            "Den 1. mai er det fest. Den 2. Verdenskrig sluttet den 8. Mai.",
            &["Den 1. mai er det fest.", "Den 2. Verdenskrig sluttet den 8. Mai."],
        ),
        ("Det var 12. Deretter gikk han.", &["Det var 12.", "Deretter gikk han."]),
        (
            "Hun fant frukt, f.eks. Gravenstein og pærer. Det var nøtter osv. Alt var ferskt.",
            &["Hun fant frukt, f.eks. Gravenstein og pærer.", "Det var nøtter osv.", "Alt var ferskt."],
        ),
        ("Se s. 5, kap. IV og nr. 2. Der står det.", &["Se s. 5, kap. IV og nr. 2.", "Der står det."]),
        ("Han døde ca. 44 f. Kr. Etter det kom freden.", &["Han døde ca. 44 f. Kr.", "Etter det kom freden."]),
        ("Dr. Holm og hr. Lund kom kl. 5. De ble.", &["Dr. Holm og hr. Lund kom kl. 5.", "De ble."]),
        (
            "Det kostet 5 mill. kroner. Det andre kostet 3 mill. Det var billig.",
            &["Det kostet 5 mill. kroner.", "Det andre kostet 3 mill.", "Det var billig."],
        ),
        ("«Kom!» sa han. «Hvorfor?» Hun tidde.", &["«Kom!» sa han.", "«Hvorfor?»", "Hun tidde."]),
        ("– Kom! sa han.\n– Hvorfor? – spurte hun.\n– Nei!", &["– Kom! sa han.", "– Hvorfor? – spurte hun.", "– Nei!"]),
        ("Det er plan B. Deretter kommer plan C.", &["Det er plan B.", "Deretter kommer plan C."]),
    ],
    frequent: &[
        "alle", "alt", "annen", "at", "av", "bare", "ble", "bli", "blir", "da", "de", "deg", "dem", "den", "denne",
        "der", "deres", "det", "dette", "du", "eller", "en", "er", "et", "etter", "for", "fra", "gikk", "ha", "hadde",
        "ham", "han", "hans", "har", "henne", "her", "hun", "hva", "hvor", "ikke", "inn", "jeg", "jo", "kunne", "man",
        "med", "mellom", "men", "min", "mine", "mitt", "mye", "ned", "noe", "noen", "nå", "når", "og", "også", "om",
        "opp", "oss", "over", "på", "seg", "selv", "sin", "skal", "skulle", "som", "så", "til", "under", "ut", "var",
        "vi", "vil", "ville", "være",
    ],
    letters: "æøå",
    ..DANISH
};
