#!/bin/sh
# The files and numbers that `starling sum` reads: csv.sh STARLING STARLINGD
. "$(dirname "$0")/../lib/head.sh"
command=sum
mkdir tmp
export TMPDIR="$folder/tmp"
# sum TEXT FILE: the sum of the column `value` of a file with these bytes.
printf 'value\n0\n' >zero.csv
sum() {
	printf "$2" >a.csv
	ends 0 --local --csv a.csv --csv zero.csv --csv zero.csv --column value
	[ "$(cat out)" = "$1" ] || fail "not $1: $2"
}
# refuse TEXT FILE: what is said of a file that cannot be used.
refuse() {
	printf "$2" >a.csv
	refused "$1" --csv a.csv --column value
}

# Quotes count at the start of a field, and hold commas and line ends; lines end with \n, \r\n or \r.
sum 112.5 'value,desc\n3,5" pipe\n4,6" pipe\n100,x\n 5 ,"a ""b"", c\nd" \n\n"0.5",'
sum 3 'desc,value\ra,1\r\rb,2'
sum 3 '\357\273\277"value"\r\n1\r\n2\r\n'
refuse "a.csv:3: 3 fields, but the first line names 2" 'value,desc\n1,a\n1,5,b\n'
refuse "a.csv:2: 1 fields, but the first line names 2" 'value,desc\n1\n'
refuse "a.csv:2: a zero byte" 'value,desc\n1\0002,a\n'
refuse "a.csv:2: a quoted field has no end" 'value,desc\n1,"a\n2,b\n'
refuse "a.csv:2: text after the quotes of a field" 'value\n"1"5\n'
refuse "a.csv: 2 columns have the name 'value'" 'value,desc,value\n1,a,2\n'
refuse "a.csv: the first line must name the columns" '\n1\n'

# Exponents.
sum 1230 'value\n1.23e3\n0e+5\n'
refused 'has too many digits' 1e-99999999999999999999
refused 'has too many digits' 1e99999999999999999999
refused 'is not a number' "$(printf '1e\t3')"
refused 'is not a number' 1e
refused 'is not a number' 1e+-3
