-- phase: expand
-- V165: process control: runs that were declared dead, and rows that one of them has left after its
-- rollback. Applied once.

CREATE TABLE omd.dead_run (
    module_instance_id bigint NOT NULL,
    module_id integer NOT NULL,
    CONSTRAINT pk_dead_run PRIMARY KEY (module_id, module_instance_id)
);

COMMENT ON TABLE omd.dead_run IS
'Runs that were declared dead, and whose process may write on: begins of their Modules look for '
'rows of them while they are among the last runs. No foreign key: only omd routines write here.';
COMMENT ON COLUMN omd.dead_run.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd.dead_run.module_id IS
'Its Module. It leads the key, so a begin of a Module without such runs reads one page.';

CREATE TABLE omd.left_rows (
    module_instance_id bigint NOT NULL,
    found_datetime timestamptz NOT NULL,
    module_id integer NOT NULL,
    row_count integer NOT NULL,
    CONSTRAINT pk_left_rows PRIMARY KEY (module_id, module_instance_id)
);

COMMENT ON TABLE omd.left_rows IS
'Rows of runs that were declared dead and rolled back: their process wrote on without the fence. A '
'row goes with the begin that finds none. No foreign key: only omd routines write here.';
COMMENT ON COLUMN omd.left_rows.module_instance_id IS 'The run that has left them.';
COMMENT ON COLUMN omd.left_rows.found_datetime IS 'When they were found first.';
COMMENT ON COLUMN omd.left_rows.module_id IS 'Its Module, in whose target they are.';
COMMENT ON COLUMN omd.left_rows.row_count IS
'How many there were at the last look; 1,000 stands for that many or more.';
