// Codes and their meanings in sentences: every word of the page that is not a number.

const WORK = Object.fromEntries(WORDS.works.map((word, code) => [word, code]));
const MODE = Object.fromEntries(WORDS.modes.map((word, code) => [word, code]));
const FIT = Object.fromEntries(WORDS.fits.map((word, code) => [word, code]));
const CLASS = Object.fromEntries(WORDS.classes.map((word, code) => [word, code]));
const LANE_WORDS = ["CPU", "GPU forwards", "result copies"];
const OWNERS = ["free", "set aside", "active", "track", "request", "cached"];
const BAD = new Set([CLASS["wrong-slot"], CLASS["wrong-label"], CLASS.missed, CLASS.repeat]);

const CLASS_MEANS = {
  agree: "A checkpoint was due and the rule recorded it at its own result.",
  settled: "A checkpoint was due; the rule did nothing, because it had recorded it one result early.",
  early: "The rule fired one result ahead, for the step in flight.",
  "wrong-slot": "The right length, but another slot than the forward wrote.",
  "wrong-label": "A length that no forward wrote or will write for this boundary, or no length.",
  missed: "A checkpoint was due and the rule has not recorded it.",
  repeat: "The rule fired again for a length that it had already recorded.",
};

const FIT_MEANS = {
  none: "it has no label",
  right: "label and content agree",
  exposed: "label and content differ: a donation now would be wrong",
  wrong: "label and content differ, and the slot was donated",
};

const KIND_MEANS = {
  mislabelled: "The slot holds the state of another length or of another sequence.",
  unwritten: "No forward has written the slot since this request got it: its content is stale.",
  foreign: "Another request wrote the slot since this one got it.",
  aliased: "The slot is correct at this moment, but a launched forward will change it.",
  torn: "No happens-before path orders the write before the read: the value read depends on timing.",
  inherited: "The request had itself started from a wrong state.",
  lost: "A checkpoint was due at a processed result and never recorded: later requests compute it again.",
  assertion: "An assertion of the modelled system failed.",
  leak: "A slot or page was given out twice, or has no owner at the end.",
  "double-free": "A slot or page was freed, but not by its owner.",
  "use-after-free": "A slot was used, but not by its owner, or freed while a step in flight still uses it.",
  lock: "Locks do not balance.",
};

const VERDICT_MEANS = {
  clean: "No checkpoint was lost, and every cached state is the one that its label names.",
  lossy: "Checkpoints were lost; nothing cached is wrong.",
  inconclusive: "A bound ended the run before anything worse was found.",
  corrupt: "A state was cached or used under a wrong label.",
  broken: "An assertion of the modelled system failed, or its accounting was violated.",
};

const VERDICT_SIGN = { clean: "✓", lossy: "◐", inconclusive: "?", corrupt: "✕", broken: "!" };

// The subject of a finding: request, label, content and slot.
function findingWords(finding) {
  const parts = [];
  if (finding.request !== null) parts.push(`request ${finding.request}`);
  if (finding.label !== null) parts.push(`label ${finding.label}`);
  const states = ["mislabelled", "unwritten", "foreign", "aliased", "torn", "inherited"];
  if (states.includes(finding.kind)) parts.push(finding.holds === null ? (finding.kind === "unwritten" ? "holds nothing" : "") : `holds ${finding.holds}`);
  if (finding.slot !== null) parts.push(`slot s${finding.slot}`);
  return parts.filter(Boolean).join(", ");
}

function ownerWords(run, i) {
  const { seg } = run;
  const req = seg.owner_req[i];
  switch (OWNERS[seg.owner[i]]) {
    case "active": return `active state of ${nameOf(req)}`;
    case "track": return `track slot ${seg.owner_idx[i]} of ${nameOf(req)}`;
    case "request": return nameOf(req);
    case "cached": return "the radix tree";
    case "set aside": return "set aside for the waiting queue";
    default: return "free";
  }
}

// The length of a step: `k 4`, or `tokens 0..8` of a prefill.
function stepWords(run, i) {
  const { step } = run;
  return step.mode[i] === MODE.extend || step.adds[i] !== 1 ? `tokens ${step.k[i] - step.adds[i]}..${step.k[i]}` : `k ${step.k[i]}`;
}

function dueWords(run, m) {
  const { mark } = run;
  return mark.due_slot[m] >= 0 ? `length ${mark.due_len[m]} in slot s${mark.due_slot[m]}` : "none";
}

function firedWords(run, m) {
  const { mark } = run;
  if (!mark.fired[m]) return "no";
  if (mark.label[m] < 0) return "cleared the label";
  return `label ${mark.label[m]}${mark.slot[m] >= 0 ? ` in slot s${mark.slot[m]}` : ", no slot"}`;
}
