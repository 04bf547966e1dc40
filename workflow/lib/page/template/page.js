"use strict";
// Sorting: a click on a column's name sorts by it, another turns the order round. Numbers as numbers, others as text.
const value = (row, column) => row.cells[column].textContent.trim();
const number = (text) => (/^[-+−]?[\d.,]+/.test(text) ? parseFloat(text.replace("−", "-").replaceAll(",", "")) : NaN);
const compare = (a, b, sign) => {
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1; // what is no number stays last
  return sign * (Number.isNaN(x) ? a.localeCompare(b) : x - y);
};
for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1, column = head.cellIndex;
    body.append(...[...body.rows].sort((a, b) => compare(value(a, column), value(b, column), sign)));
  });
}

// Filtering: claims by verdict and words, figures and tables by words. A paper of which nothing is left is hidden.
const form = document.getElementById("filter"), found = document.getElementById("found");
const filter = () => {
  const verdict = form.verdict.value, words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (element) => words.every((word) => element.textContent.toLowerCase().includes(word));
  let claims = 0, total = 0;
  for (const row of document.querySelectorAll(".claims tbody tr")) {
    row.hidden = !((!verdict || row.dataset.verdict.split(";").includes(verdict)) && has(row));
    claims += !row.hidden;
    total += 1;
  }
  for (const article of document.querySelectorAll("article")) {
    article.hidden = !has(article) && !article.id.replace("-", " ").includes(words.join(" "));
  }
  for (const paper of document.querySelectorAll(".paper")) {
    paper.hidden = !paper.querySelector("article:not([hidden]), .claims tbody tr:not([hidden])");
  }
  found.textContent = verdict || words.length ? `${claims} of ${total} claims` : "";
};
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
// A link to what is filtered away shows it.
addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.closest("[hidden]")) {
    form.reset();
    filter();
    target.scrollIntoView();
  }
});
// In print everything of a table is there.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = part.open || part.querySelector("pre") === null)));
