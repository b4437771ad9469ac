/* Whose file makes room for a socket. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include <unistd.h>

#include "daemon/runtime/unix_socket.h"

static int listening(void)
{
	struct sl_error error = {0};
	int fd;
	assert_ok(sl_unix_socket_listen("socket", "control", &fd, &error), error);
	return fd;
}

static void expect_refusal(const char *text)
{
	struct sl_error error = {0};
	int fd = -1;
	assert_int_equal(sl_unix_socket_listen("socket", "control", &fd, &error), SL_ERR_IO);
	assert_int_equal(fd, -1);
	assert_string_equal(error.text, text);
}

TEST_WITH(a_socket_at_which_nobody_listens_is_replaced, folder_enter, folder_leave)
{
	close(listening());
	close(listening());
}

/* Another learner would be cut off from its users and programs. */
TEST_WITH(a_socket_of_another_learner_stays, folder_enter, folder_leave)
{
	int first = listening();
	expect_refusal("control: socket: another program listens there; choose another path");
	close(first);
	close(listening());
}

TEST_WITH(a_file_stays, folder_enter, folder_leave)
{
	char text[16];
	folder_put("socket", "precious");
	expect_refusal("control: socket is not a socket; choose another path");
	folder_get("socket", text, sizeof text);
	assert_string_equal(text, "precious");
}
