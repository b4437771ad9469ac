"""Two commands, which need the standard library alone. `starling topology import` makes a schedule(5) from recorded contacts or movements;
`starling topology audit` tells what a coalition learns on a schedule.

Text of `import` is bytes read as Latin-1, so that names in any encoding are written as they were read."""
