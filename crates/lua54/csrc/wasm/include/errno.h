/* Nothing here fails in a way that a number would tell. */
#pragma once
static int errno;
