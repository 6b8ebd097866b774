-- V115: the page: what there is to look at, and what can be done with it. Applied once.

CREATE SCHEMA omd_web;
COMMENT ON SCHEMA omd_web IS
'The page: which objects there are, and which actions on them, as SQL calls.';
