//! Letters of Latin, Greek, Cyrillic and Hangul that are written as two characters, composed as in the normal form NFC.
//! `js/hedgerow/src/core/indexes/words.ts` asks the platform for the same.

/// For each combining mark, pairs of small letters: without it, and with it. The dot of a small i makes no other
/// letter.
#[rustfmt::skip]
#[expect(clippy::unicode_not_nfc, reason = "a mark that is written as an escape stands before a letter")]
static PAIRS: &str = "\
    \u{300}aàeèiìnǹoòuùwẁyỳâầêềôồüǜăằēḕōṑơờưừеѐиѝ\
    \u{301}aácćeégǵiíkḱlĺmḿnńoópṕrŕsśuúwẃyýzźâấåǻæǽçḉêếïḯôốõṍøǿüǘăắēḗōṓũṹơớưứαάεέηήιίοόυύωώϊΐϋΰϒϓгѓкќιί\
    \u{302}aâcĉeêgĝhĥiîjĵoôsŝuûwŵyŷzẑạậẹệọộ\
    \u{303}aãeẽiĩnñoõuũvṽyỹâẫêễôỗăẵơỡưữ\
    \u{304}aāeēgḡiīoōuūyȳäǟæǣõȭöȫüǖǫǭȧǡȯȱиӣуӯḷḹṛṝ\
    \u{306}aăeĕgğiĭoŏuŭȩḝаӑеӗжӂийуўạặ\
    \u{307}aȧbḃcċdḋeėfḟgġhḣiimṁnṅoȯpṗrṙsṡtṫwẇxẋyẏzżśṥšṧſẛṣṩ\
    \u{308}aäeëhḧiïoötẗuüwẅxẍyÿõṏūṻιϊυϋϒϔаӓеёжӝзӟиӥоӧуӱчӵыӹэӭіїәӛөӫιϊ\
    \u{309}aảeẻiỉoỏuủyỷâẩêểôổăẳơởưử\
    \u{30a}aåuůwẘyẙ\
    \u{30b}oőuűуӳ\
    \u{30c}aǎcčdďeěgǧhȟiǐjǰkǩlľnňoǒrřsštťuǔzžüǚʒǯ\
    \u{30f}aȁeȅiȉoȍrȑuȕѴѶѵѷ\
    \u{311}aȃeȇiȋoȏrȓuȗ\
    \u{31b}oơuưòờóớõỡùừúứũữọợỏởụựủử\
    \u{323}aạbḅdḍeẹhḥiịkḳlḷmṃnṇoọrṛsṣtṭuụvṿwẉyỵzẓâậêệôộăặơợưựṡṩ\
    \u{324}uṳ\
    \u{325}aḁ\
    \u{326}sștț\
    \u{327}cçdḑeȩgģhḩkķlļnņrŗsştţćḉĕḝ\
    \u{328}aąeęiįoǫuųōǭ\
    \u{32d}dḓeḙlḽnṋtṱuṷ\
    \u{32e}hḫ\
    \u{330}eḛiḭuṵ\
    \u{331}bḇdḏhẖkḵlḻnṉrṟtṯzẕ";

/// The combining marks of letters of these scripts.
const MARKS: (u32, u32) = (0x300, 0x33f);

/// Syllables of Hangul are in the order of their first, second and third letters. The third may be missing.
const SYLLABLES: u32 = 0xac00;
const FIRSTS: (u32, u32) = (0x1100, 0x1112);
const SECONDS: (u32, u32) = (0x1161, 0x1175);
/// The place before the first third letter stands for a missing one.
const THIRDS: (u32, u32) = (0x11a7, 0x11c2);
const WITH_THIRDS: u32 = THIRDS.1 - THIRDS.0 + 1;
const WITH_SECONDS: u32 = SECONDS.1 - SECONDS.0 + 1;

const fn is_in(code: u32, range: (u32, u32)) -> bool {
    code >= range.0 && code <= range.1
}

/// Returns the small letter that two characters make; 0 if they make no letter.
pub fn composed(code: u32, part: u32) -> u32 {
    if is_in(part, MARKS) {
        return with_mark(code, part);
    }
    if is_in(part, SECONDS) && is_in(code, FIRSTS) {
        let second = part - SECONDS.0;
        return SYLLABLES + ((code - FIRSTS.0) * WITH_SECONDS + second) * WITH_THIRDS;
    }
    let is_open =
        is_in(code, (SYLLABLES, 0xd7a3)) && (code - SYLLABLES).is_multiple_of(WITH_THIRDS);
    if is_open && part > THIRDS.0 && part <= THIRDS.1 { code + part - THIRDS.0 } else { 0 }
}

fn with_mark(code: u32, mark: u32) -> u32 {
    let mut chars = PAIRS.chars().map(u32::from);
    let mut group = 0;
    while let Some(char) = chars.next() {
        if is_in(char, MARKS) {
            group = char;
        } else if let Some(made) = chars.next()
            && group == mark
            && char == code
        {
            return made;
        }
    }
    0
}
