"""The command `starling topology import`: a schedule(5) from recorded contacts or movements. Needs the standard library alone.

Text is bytes read as Latin-1, so that names in any encoding are written as they were read."""
