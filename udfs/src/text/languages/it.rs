//! Italian.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const ITALIAN: Language = Language {
    code: "it",
    name: "Italian",
    examples: &[
        ("Il sig. Rossi parla. La dott. Bianchi ascolta.", &["Il sig. Rossi parla.", "La dott. Bianchi ascolta."]),
        (
            "L'avv. Verdi e l'ing. Neri arrivano con il prof. Conti. Mons. Gallo no.",
            &["L'avv. Verdi e l'ing. Neri arrivano con il prof. Conti.", "Mons. Gallo no."],
        ),
        (
            "Ci sono frutti, p. es. mele. Ci sono pere, uva ecc. Tutto è fresco.",
            &["Ci sono frutti, p. es. mele.", "Ci sono pere, uva ecc.", "Tutto è fresco."],
        ),
        (
            "Vedi a pag. 5, all'art. 3 e alla fig. XII. Lì c'è tutto.",
            &["Vedi a pag. 5, all'art. 3 e alla fig. XII.", "Lì c'è tutto."],
        ),
        (
            "La legge è il D. Lgs. 81 del 2008. Il D.L. 5 non vale.",
            &["La legge è il D. Lgs. 81 del 2008.", "Il D.L. 5 non vale."],
        ),
        (
            "Morì nel 44 a. C. a Roma. Nacque nel 100 a. C. Suo padre era console.",
            &["Morì nel 44 a. C. a Roma.", "Nacque nel 100 a. C.", "Suo padre era console."],
        ),
        ("Ha detto di no. 5 persone sono partite.", &["Ha detto di no.", "5 persone sono partite."]),
        ("Il vento viene da est. Marco lo sente.", &["Il vento viene da est.", "Marco lo sente."]),
        ("«Vieni!» disse lui. «Perché?» Lei tacque.", &["«Vieni!» disse lui.", "«Perché?»", "Lei tacque."]),
        (
            "– Vieni! – disse lui.\n– Perché? chiese lei.\n– No!",
            &["– Vieni! – disse lui.", "– Perché? chiese lei.", "– No!"],
        ),
        (
            "Lavora per la Rossi S.p.A. di Milano. Conosce la Verdi S.p.A. Non la ama.",
            &["Lavora per la Rossi S.p.A. di Milano.", "Conosce la Verdi S.p.A.", "Non la ama."],
        ),
        ("È il piano B. Poi viene il piano C.", &["È il piano B.", "Poi viene il piano C."]),
        ("Lo disse G. Di Stefano. Nessuno rispose.", &["Lo disse G. Di Stefano.", "Nessuno rispose."]),
    ],
    never_last: &[
        "Arch", "Avv", "Card", "Cav", "Cfr", "Dott", "Dr", "Egr", "Gen", "Geom", "Ing", "Magg", "Mons", "N.B", "On",
        "Prof", "Proff", "Rag", "Rev", "S.E", "Sen", "Sig", "Sigg", "Spett", "arch", "avv", "card", "cav", "cfr",
        "col", "dott", "dr", "egr", "es", "gen", "gent", "geom", "ill", "ing", "magg", "mons", "n.b", "on", "p.es",
        "prof", "proff", "rag", "rev", "sen", "sig", "sigg", "spett",
    ],
    before_numbers: &[
        "D.L", "D.Lgs", "D.M", "D.P.R", "L", "ago", "all", "apr", "art", "artt", "c", "ca", "cap", "capp", "dic",
        "feb", "fig", "figg", "giu", "lett", "lug", "mag", "n", "nn", "nov", "ott", "p", "pag", "pagg", "par", "pp",
        "sec", "sett", "sez", "t", "tav", "tavv", "tel", "v", "vol", "voll",
    ],
    rarely_last: &[
        "C.so", "F.lli", "Jr", "P.zza", "S.p.A", "S.r.l", "Soc", "V.le", "a.C", "d.C", "ed", "ibid", "loc.cit", "max",
        "min", "op.cit", "s.p.a", "s.r.l",
    ],
    often_last: &["ecc", "etc", "segg"],
    no_abbreviations: &["app", "est", "no"],
    starters: &[
        "a", "al", "alla", "allora", "anche", "che", "chi", "ci", "come", "con", "cosa", "così", "dopo", "dove", "due",
        "durante", "e", "egli", "ella", "era", "fra", "fu", "già", "gli", "i", "ieri", "il", "in", "infine", "inoltre",
        "io", "l", "la", "le", "lei", "lo", "loro", "lui", "ma", "mentre", "molte", "molti", "nei", "nel", "nella",
        "nessuno", "niente", "noi", "non", "o", "oggi", "ogni", "ora", "per", "perché", "poi", "prima", "quando",
        "quella", "quello", "questa", "queste", "questi", "questo", "qui", "quindi", "se", "secondo", "sono", "su",
        "sua", "suo", "sì", "tra", "tre", "tu", "tutti", "tutto", "un", "una", "uno", "voi", "è",
    ],
    reporting_verbs: &[
        "aggiunse", "chiede", "chiese", "chiesi", "dice", "disse", "dissero", "dissi", "domandò", "esclama", "esclamò",
        "fece", "grida", "gridarono", "gridò", "mormorò", "ordinò", "pensò", "replicò", "ripeté", "risponde",
        "rispose", "sussurrò", "urlò",
    ],
    frequent: &[
        "al", "all", "alla", "anche", "che", "ci", "come", "con", "cui", "da", "dal", "dei", "del", "dell", "della",
        "delle", "di", "dopo", "dott", "dove", "due", "ed", "era", "erano", "essere", "fu", "gli", "ha", "hanno", "il",
        "in", "io", "la", "le", "lei", "lo", "loro", "lui", "ma", "mi", "molto", "ne", "nel", "nella", "nessuno",
        "noi", "non", "per", "perché", "più", "poi", "quando", "questa", "questo", "quindi", "se", "si", "sig", "sono",
        "stato", "sua", "sul", "sulla", "suo", "tra", "tutti", "tutto", "un", "una",
    ],
    letters: "ìòùà",
    ..EMPTY
};
