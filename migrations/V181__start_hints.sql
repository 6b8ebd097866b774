-- phase: expand
-- V181: a Module says how a program outside starts it. Applied once.

ALTER TABLE omd.module ADD COLUMN IF NOT EXISTS start_hint text;
COMMENT ON COLUMN omd.module.start_hint IS
'How a person starts it again, where a program outside begins it; NULL: nobody has said so.';
