# A text as a C string constant: a line of text becomes a line of C.
s/[\\"]/\\&/g
s/.*/"&\\n"/
