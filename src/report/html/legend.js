// The legend of signs, steps, slots, lanes and arcs.

// The legend, shown while nothing is pinned.
function legendHtml() {
  const seen = ["agree", "early", "settled", "repeat", "missed", "wrong-label", "wrong-slot"];
  const signs = seen.map((word) => `<li>${signSvg(CLASS[word])}<b>${word}</b> <span>${CLASS_MEANS[word]}</span></li>`).join("");
  const swatch = (word, cls, style = "") => `<li><span class="swatch ${cls}" style="${style}"></span><span>${word}</span></li>`;
  return `<h2>How to read it</h2><p class="soft">Hover or click anything for its facts. Numbers in the steps are lengths <i>k</i>, in tokens.</p>
<h3>Decision of the rule at a boundary</h3><ul class="signs">${signs}<li>${signSvg(-1)}<b>written</b> <span>A forward writes a track slot here; the rule was not asked for a decision.</span></li></ul>
<h3>Steps and slots</h3><ul class="swatches">
${swatch("prefill step", "s-pre")}${swatch("decode step", "s-cell")}${swatch("its forward writes a track slot", "s-due")}${swatch("result skipped", "s-skipped")}
${swatch("slot: hue by request, darker with length", "s-slot")}${swatch("allocated, not written", "s-empty")}${swatch("cached in the radix tree", "s-tree")}${swatch("exposed: wrong if donated now", "s-exposed")}${swatch("wrong: donated under a wrong label", "s-wrong")}</ul>
<h3>Lanes</h3><ul class="swatches two">${["ingest", "plan", "prepare", "launch", "wait", "result", "extend", "decode", "mixed", "verify"].filter((word) => state.run.works.has(WORK[word])).map((word) => swatch(word === "extend" ? "prefill forward" : ["decode", "mixed", "verify"].includes(word) ? `${word} forward` : word, "", `background: var(--w${WORK[word]}); border: 0`)).join("")}</ul>
<h3>Arcs over the CPU lane</h3><ul class="swatches">${swatch("a result read a newer value than its prepare saw", "s-warm")}${swatch("and that changed the decision of the rule", "s-hot")}</ul>`;
}
