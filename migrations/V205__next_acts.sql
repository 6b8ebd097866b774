-- phase: expand
-- V205: each kind says by a routine of its room what is to be done next for a Module of it.
-- Applied once.

ALTER TABLE omd.module_kind ADD COLUMN IF NOT EXISTS act_routine text;
COMMENT ON COLUMN omd.module_kind.act_routine IS
'A function (p_module_code text, OUT p_act text, OUT p_arguments jsonb, OUT p_status text, OUT '
'p_detail text) that says what omd.next_act answers for a Module of this kind, and changes '
'nothing. NULL: what process control says, omd.next_program.';
