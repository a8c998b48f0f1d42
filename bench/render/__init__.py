"""Tables and figures to LaTeX, markdown, CSV, JSON, HTML, PDF, SVG and PNG. Knows no record."""
