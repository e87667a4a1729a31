//! Spanish.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const SPANISH: Language = Language {
    code: "es",
    name: "Spanish",
    examples: &[
        ("El Sr. García llegó tarde. La Sra. Pérez salió.", &["El Sr. García llegó tarde.", "La Sra. Pérez salió."]),
        ("¿Vienes? ¡Claro! Voy contigo.", &["¿Vienes?", "¡Claro!", "Voy contigo."]),
        (
            "El Excmo. Sr. Ruiz y la Dra. Gil, de los EE. UU. de América, hablaron. Fue en los EE. UU. Nadie escuchó.",
            &[
                "El Excmo. Sr. Ruiz y la Dra. Gil, de los EE. UU. de América, hablaron.",
                "Fue en los EE. UU.",
                "Nadie escuchó.",
            ],
        ),
        (
            "Hay frutas, p. ej. manzanas. También peras, uvas, etc. Todo es fresco.",
            &["Hay frutas, p. ej. manzanas.", "También peras, uvas, etc.", "Todo es fresco."],
        ),
        (
            "Véase la pág. 5, el núm. XII y el art. 3. Allí está.",
            &["Véase la pág. 5, el núm. XII y el art. 3.", "Allí está."],
        ),
        (
            "La ciudad cayó en el s. V a. C. y renació. Murió en 44 a. C. Su hijo reinó.",
            &["La ciudad cayó en el s. V a. C. y renació.", "Murió en 44 a. C.", "Su hijo reinó."],
        ),
        ("Dijo que no. 3 personas se fueron.", &["Dijo que no.", "3 personas se fueron."]),
        (
            "—¡Ven! —dijo él.\n—¿Por qué? —preguntó ella.\n—No.\n—Miró el reloj.",
            &["—¡Ven! —dijo él.", "—¿Por qué? —preguntó ella.", "—No.", "—Miró el reloj."],
        ),
        ("«¡Ven!» dijo él. «¿Por qué?» Ella calló.", &["«¡Ven!» dijo él.", "«¿Por qué?»", "Ella calló."]),
        (
            "Gracias a Ud. por venir. Lo sabe Ud. También lo sé yo.",
            &["Gracias a Ud. por venir.", "Lo sabe Ud.", "También lo sé yo."],
        ),
        (
            "Vive en la Avda. América, cerca de Sto. Domingo. Trabaja en la Cía. Gil.",
            &["Vive en la Avda. América, cerca de Sto. Domingo.", "Trabaja en la Cía. Gil."],
        ),
        ("Es el plan B. Después viene el plan C.", &["Es el plan B.", "Después viene el plan C."]),
        ("¡Ven!… Nadie vino.", &["¡Ven!…", "Nadie vino."]),
    ],
    never_last: &[
        "Arq", "Cf", "Cnel", "Depto", "Dpto", "Dr", "Dra", "Dres", "Dña", "Excma", "Excmo", "Fr", "Gral", "Hna", "Hno",
        "Ilma", "Ilmo", "Ing", "Lic", "Mons", "Pdte", "Prof", "Profa", "Rvdo", "Sr", "Sra", "Sras", "Sres", "Srta",
        "Srtas", "Sta", "Sto", "cf", "dr", "dra", "dña", "p.ej", "sr", "sra", "sras", "sres", "srta", "srtas", "v.gr",
    ],
    before_numbers: &[
        "abr", "ago", "apdo", "aprox", "art", "arts", "c", "cap", "caps", "dic", "ene", "feb", "fig", "figs", "inc",
        "lám", "n", "nov", "núm", "núms", "oct", "p", "pp", "pág", "págs", "párr", "ref", "s", "sept", "ss", "t",
        "tel", "tfno", "tít", "vol", "vols",
    ],
    rarely_last: &[
        "Av", "Avda", "Cía", "EE.UU", "Hnos", "J.C", "Jr", "Ltda", "RR.HH", "S.A", "S.L", "Ud", "Uds", "Vd", "Vds",
        "a.C", "a.J.C", "admón", "av", "avda", "d.C", "dcha", "ed", "eds", "ibíd", "izq", "loc.cit", "máx", "mín",
        "op.cit", "ud", "uds",
    ],
    often_last: &["etc"],
    no_abbreviations: &["mar", "no"],
    starters: &[
        "a", "además", "ahora", "al", "algo", "alguien", "allí", "aquel", "aquí", "así", "aunque", "ayer", "cada",
        "como", "con", "cuando", "cuándo", "cómo", "desde", "después", "dos", "dónde", "el", "ella", "ellas", "ellos",
        "en", "entonces", "entre", "era", "es", "esa", "ese", "eso", "esta", "estas", "este", "esto", "estos", "fue",
        "hasta", "hay", "hoy", "la", "las", "le", "les", "lo", "los", "luego", "mi", "muchas", "muchos", "nada",
        "nadie", "no", "nosotros", "nuestro", "o", "otra", "otro", "para", "pero", "por", "porque", "quién", "qué",
        "se", "según", "si", "sin", "sobre", "son", "su", "sus", "sí", "también", "todo", "todos", "tras", "tres",
        "tú", "un", "una", "unas", "unos", "usted", "ustedes", "y", "ya", "yo", "él",
    ],
    reporting_verbs: &[
        "añadió", "contesta", "contestó", "dice", "dije", "dijeron", "dijo", "exclama", "exclamó", "grita", "gritaron",
        "grité", "gritó", "murmuró", "ordenó", "pensó", "pregunta", "pregunté", "preguntó", "repitió", "replicó",
        "responde", "respondió", "suplicó", "susurró",
    ],
    frequent: &[
        "al", "como", "con", "contra", "cuando", "de", "del", "desde", "después", "donde", "durante", "el", "ella",
        "en", "entre", "era", "es", "ese", "eso", "esta", "estaban", "este", "está", "fue", "había", "han", "hasta",
        "hay", "la", "las", "le", "les", "lo", "los", "me", "muy", "más", "ni", "no", "nos", "otros", "para", "pero",
        "por", "porque", "que", "quien", "se", "ser", "sin", "sobre", "solo", "son", "sr", "sra", "su", "sus", "sí",
        "también", "tiene", "todo", "todos", "un", "una", "uno", "usted", "ya", "él",
    ],
    letters: "ñ",
    ..EMPTY
};
