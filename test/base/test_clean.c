/* Text of peers for a terminal: what could control it, or show text in another order, is replaced. */
#include <stdio.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/err.h"
#include "test/lib/test.h"

static void expect(const char *text, const char *want)
{
	char copy[64];
	snprintf(copy, sizeof copy, "%s", text);
	sl_clean_text(copy);
	assert_string_equal(copy, want);
}

TEST(control_characters)
{
	expect("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa6", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa6");
	expect("a\x1b[2Jb\tc\x7f", "a?[2Jb?c?");
	expect("a\nb", "a?b");
	expect("a\xc2\x9b"
	       "31mb\xc2\xa0",
	       "a?31mb\xc2\xa0");
}

TEST(characters_that_turn_text)
{
	expect("a\xe2\x80\xae"
	       "b\xe2\x81\xa6"
	       "c\xd8\x9c\xe2\x80\x8f",
	       "a?b?c??");
	expect("\xe2\x80\x93 \xe2\x81\xb0 \xd8\xa7", "\xe2\x80\x93 \xe2\x81\xb0 \xd8\xa7");
	expect("\xe2\x80", "\xe2\x80"); /* cut */
	expect("\xe2", "\xe2");
	expect("\xd8", "\xd8");
}

TEST(words_of_a_shell)
{
	static const char *const words[][2] = {
		{"a/b-1.x", "a/b-1.x"}, {"a b", "'a b'"}, {"", "''"}, {"it's", "'it'\\''s'"}, {"~", "'~'"}};
	char word[16];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		sl_clean_shell_word(words[i][0], word, sizeof word);
		assert_string_equal(word, words[i][1]);
	}
	sl_clean_shell_word("''''''", word, 12);
	assert_string_equal(word, "''\\'''\\'''"); /* cut, and a word nevertheless */
	sl_clean_shell_word("abcdefghijklmnopq", word, sizeof word);
	assert_string_equal(word, "abcdefghij");
}

/* An error quotes what a file or a peer has. */
TEST(errors_are_clean)
{
	struct sl_error error;
	sl_err_set(&error, SL_ERR_INVALID, "unknown key '%s'", "a\x1b[31m\n");
	assert_string_equal(error.text, "unknown key 'a?[31m?'");
	sl_err_wrap(&error, "%s", "b\x1b");
	assert_string_equal(error.text, "b?: unknown key 'a?[31m?'");
}
