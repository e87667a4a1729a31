//! German.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const GERMAN: Language = Language {
    code: "de",
    name: "German",
    examples: &[
        (
            "Am 3. Oktober 1990 war es sonnig. Danach kam der Regen.",
            &["Am 3. Oktober 1990 war es sonnig.", "Danach kam der Regen."],
        ),
        (
            "Der 2. Weltkrieg begann am 1. September 1939. Er dauerte lange.",
            &["Der 2. Weltkrieg begann am 1. September 1939.", "Er dauerte lange."],
        ),
        ("Sie ist Fan vom 1. FC Neustadt. Er nicht.", &["Sie ist Fan vom 1. FC Neustadt.", "Er nicht."]),
        (
            "Viele Tiere, z. B. Hunde und Katzen, schlafen. Das ist bekannt.",
            &["Viele Tiere, z. B. Hunde und Katzen, schlafen.", "Das ist bekannt."],
        ),
        ("Siehe Nr. 5 und S. 12 im Anhang. Dort steht es.", &["Siehe Nr. 5 und S. 12 im Anhang.", "Dort steht es."]),
        (
            "Der Zug hält u. a. in Ulm bzw. Augsburg. Dort wartet er.",
            &["Der Zug hält u. a. in Ulm bzw. Augsburg.", "Dort wartet er."],
        ),
        (
            "Friedrich II. war der Sohn des Königs. Er regierte lange.",
            &["Friedrich II. war der Sohn des Königs.", "Er regierte lange."],
        ),
        ("Es waren 12. Danach ging er.", &["Es waren 12.", "Danach ging er."]),
        ("Sie kam am 12. Er kam am 13. Mai.", &["Sie kam am 12.", "Er kam am 13. Mai."]),
        (
            "Das II. Vatikanische Konzil begann am 11. 10. 1962 in Rom. Papst war Johannes XXIII. Er war alt.",
            &["Das II. Vatikanische Konzil begann am 11. 10. 1962 in Rom.", "Papst war Johannes XXIII.", "Er war alt."],
        ),
        (
            "Äpfel, Birnen usw. lagen da. Es gab Nüsse, Mandeln usw. Niemand aß davon.",
            &["Äpfel, Birnen usw. lagen da.", "Es gab Nüsse, Mandeln usw.", "Niemand aß davon."],
        ),
        (
            "Die Stadt entstand um 500 v. Chr. am Fluss. Sie verfiel um 300 n. Chr. Danach war sie leer.",
            &["Die Stadt entstand um 500 v. Chr. am Fluss.", "Sie verfiel um 300 n. Chr.", "Danach war sie leer."],
        ),
        (
            "Das kostet 5 Mio. Euro, d. h. zu viel. Geplant waren 3 Mio. Das war falsch.",
            &["Das kostet 5 Mio. Euro, d. h. zu viel.", "Geplant waren 3 Mio.", "Das war falsch."],
        ),
        (
            "Herr Dr. med. Huber und Dipl.-Ing. Maier, geb. Schmidt, kamen. Die Fa. Kurz nicht.",
            &["Herr Dr. med. Huber und Dipl.-Ing. Maier, geb. Schmidt, kamen.", "Die Fa. Kurz nicht."],
        ),
        (
            "„Komm!“, rief er. „Warum?“ fragte sie. „Darum …“ – mehr sagte er nicht.",
            &["„Komm!“, rief er.", "„Warum?“ fragte sie.", "„Darum …“ – mehr sagte er nicht."],
        ),
        ("„Komm!“ Er rief es laut. »Nein!« sagte sie.", &["„Komm!“", "Er rief es laut.", "»Nein!« sagte sie."]),
        ("Komm! rief er. Nein! Doch!", &["Komm! rief er.", "Nein!", "Doch!"]),
        (
            "Er wohnt in der Hauptstr. 5 in Ulm. Vgl. Huber, S. 3.",
            &["Er wohnt in der Hauptstr. 5 in Ulm.", "Vgl. Huber, S. 3."],
        ),
    ],
    never_last: &[
        "Dipl", "Dr", "Dres", "Fa", "Fr", "Frl", "Gebr", "Hl", "Hr", "Hrn", "Ing", "Mag", "Pfr", "Prof", "abzgl",
        "bes", "bspw", "bzw", "d.h", "dt", "ehem", "engl", "entspr", "ev", "evang", "evtl", "exkl", "frz", "geb",
        "gem", "ggf", "h.c", "hl", "i.S.v", "i.V.m", "i.d.R", "inkl", "insb", "insbes", "ital", "jur", "kath", "lt",
        "m.E", "m.W", "med", "nat", "o.g", "phil", "rer.nat", "rer.pol", "russ", "röm", "sog", "sogen", "span",
        "stellv", "u.U", "ungef", "verh", "verw", "vgl", "z.B", "zw", "zzgl", "österr",
    ],
    before_numbers: &[
        "Abb", "Abs", "Anm", "Art", "Az", "Bd", "Bde", "Bl", "Buchst", "Fn", "Hs", "Jg", "Kap", "Lfg", "Nr", "Nrn",
        "Pos", "Rn", "Rz", "S", "Str", "Tab", "Tel", "Z", "Ziff", "ca", "gest",
    ],
    endings_before_numbers: &["str"],
    rarely_last: &[
        "Abt", "Apr", "Aufl", "Aug", "Co", "Dez", "Feb", "Ges", "Hbf", "Hg", "Hrsg", "Inst", "Jan", "Jh", "Jhd", "Jhs",
        "Jr", "Min", "Mio", "Mrd", "Nov", "Okt", "Pl", "Sek", "Sep", "Sept", "St", "Stck", "Std", "Tsd", "Univ",
        "Verf", "a.D", "a.M", "allg", "d.J", "d.Ä", "griech", "jun", "lat", "max", "min", "n.Chr", "s.o", "s.u", "sen",
        "u.a", "v.Chr", "z.T", "z.Z", "z.Zt",
    ],
    often_last: &["etc", "ff", "o.Ä", "o.ä", "u.a.m", "u.dgl", "u.v.m", "u.Ä", "u.ä", "usf", "usw"],
    starters: &[
        "aber", "alle", "alles", "als", "am", "an", "auch", "auf", "aus", "außerdem", "bei", "beide", "bis", "da",
        "dabei", "daher", "damit", "danach", "dann", "darauf", "das", "denn", "der", "die", "dies", "diese", "dieser",
        "dieses", "doch", "dort", "durch", "ein", "eine", "einige", "er", "es", "für", "gestern", "haben", "hat",
        "heute", "hier", "ich", "ihr", "im", "in", "ist", "ja", "jede", "jeder", "jedoch", "jetzt", "kein", "keine",
        "man", "manche", "mehr", "mit", "nach", "nachdem", "nein", "nicht", "nichts", "niemand", "nun", "nur", "ob",
        "obwohl", "oder", "schließlich", "sein", "seine", "seit", "seitdem", "sie", "sind", "so", "sondern", "später",
        "trotzdem", "um", "und", "unter", "viele", "vom", "von", "vor", "wann", "war", "waren", "warum", "was", "weil",
        "wenn", "wer", "wie", "wir", "wo", "während", "zu", "zuerst", "zuletzt", "zum", "zunächst", "zur", "zwei",
    ],
    before_ordinals: &[
        "als", "am", "beim", "das", "dem", "den", "der", "des", "die", "diese", "diesem", "diesen", "dieser", "dieses",
        "ein", "eine", "einem", "einen", "einer", "eines", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ihres", "im",
        "ins", "jede", "jedem", "jeden", "jeder", "jedes", "mein", "meine", "meinem", "meinen", "meiner", "sein",
        "seine", "seinem", "seinen", "seiner", "seines", "unser", "unsere", "unserem", "unseren", "unserer", "vom",
        "zum", "zur",
    ],
    after_ordinals: &[
        "advent", "apr", "april", "auflage", "aug", "august", "bezirk", "bezirks", "bundesliga", "dez", "dezember",
        "etage", "feb", "februar", "geburtstag", "geburtstags", "halbzeit", "jahrhundert", "jahrhunderts",
        "jahrtausend", "jahrtausends", "jan", "januar", "jh", "jhd", "jhs", "jul", "juli", "jun", "juni", "jänner",
        "kapitel", "kapitels", "klasse", "lebensjahr", "lebensjahrs", "liga", "mai", "mal", "minute", "mär", "märz",
        "nov", "november", "obergeschoss", "okt", "oktober", "platz", "runde", "semester", "sep", "sept", "september",
        "sitzung", "spieltag", "staffel", "stock", "wahlperiode", "weltkrieg", "weltkrieges", "weltkriegs",
    ],
    reporting_verbs: &[
        "antwortet", "antwortete", "bat", "befahl", "brüllte", "dachte", "entgegnete", "erklärte", "erwiderte",
        "flüstert", "flüsterte", "fragt", "fragte", "fragten", "lachte", "meint", "meinte", "murmelte", "rief",
        "riefen", "ruft", "sagt", "sagte", "sagten", "schreit", "schrie", "seufzte", "sprach", "stammelte",
    ],
    frequent: &[
        "aber", "als", "am", "an", "auch", "auf", "aus", "begann", "bei", "beim", "bis", "bzw", "da", "danach", "dann",
        "das", "dass", "dem", "den", "der", "des", "die", "diese", "dieser", "dieses", "doch", "dort", "durch", "ein",
        "eine", "einem", "einen", "einer", "er", "es", "frau", "für", "gegen", "haben", "hat", "hatte", "herr", "ich",
        "ihr", "im", "ist", "jahr", "jahre", "kam", "kann", "kein", "keine", "man", "mehr", "mich", "mit", "nach",
        "nicht", "noch", "nur", "oder", "schon", "sehr", "sein", "seine", "sich", "sie", "siehe", "sind", "so",
        "steht", "um", "und", "uns", "unter", "viele", "vom", "von", "vor", "war", "waren", "weil", "wenn", "werden",
        "wie", "wir", "wird", "wo", "wurde", "wurden", "zu", "zum", "zur", "zwei", "über",
    ],
    letters: "äöüß",
    ..EMPTY
};
