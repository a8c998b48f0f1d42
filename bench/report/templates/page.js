"use strict";
(function () {
  function words(text) {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
  }
  function matches(text, wanted) {
    text = text.toLowerCase();
    return wanted.every(function (word) { return text.includes(word); });
  }
  function filterRows(table, input, status) {
    var rows = Array.from(table.querySelectorAll("tbody tr:not(.heading)"));
    var shown = 0;
    // A word that no row has is looked for in the headings over rows, such as a class.
    var inRows = function (word) {
      return rows.some(function (row) { return row.textContent.toLowerCase().includes(word); });
    };
    var ofRows = words(input.value).filter(inRows);
    var ofHeadings = words(input.value).filter(function (word) { return !inRows(word); });
    rows.forEach(function (row) {
      var heading = row.parentElement.querySelector(".heading");
      row.hidden = !matches(row.textContent, ofRows) || !matches(heading ? heading.textContent : "", ofHeadings);
      shown += row.hidden ? 0 : 1;
    });
    table.querySelectorAll("tbody").forEach(function (body) {
      body.hidden = !body.querySelector("tr:not(.heading):not([hidden])");
    });
    status.textContent = shown + " of " + rows.length + " rows";
  }
  document.querySelectorAll(".table table").forEach(function (table) {
    if (table.querySelectorAll("tbody tr:not(.heading)").length < 6) { return; }
    var holder = document.createElement("div");
    holder.className = "filter";
    var label = document.createElement("label");
    label.textContent = "Filter rows ";
    var input = document.createElement("input");
    input.type = "search";
    var status = document.createElement("span");
    status.setAttribute("role", "status");
    label.appendChild(input);
    holder.append(label, status);
    table.parentElement.before(holder);
    input.addEventListener("input", function () { filterRows(table, input, status); });
  });
  var text = document.getElementById("cell-text");
  var outcome = document.getElementById("cell-outcome");
  var cells = document.querySelectorAll("details.cell");
  function filterCells() {
    var shown = 0;
    cells.forEach(function (cell) {
      var fits = matches(cell.querySelector("summary").textContent, words(text.value));
      cell.hidden = !fits || (outcome.value !== "" && cell.dataset.outcome !== outcome.value);
      shown += cell.hidden ? 0 : 1;
    });
    document.getElementById("cell-count").textContent = shown + " of " + cells.length + " cells";
  }
  document.getElementById("cell-filters").hidden = false;
  text.addEventListener("input", filterCells);
  outcome.addEventListener("change", filterCells);
})();
