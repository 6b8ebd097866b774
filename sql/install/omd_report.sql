-- This list says what is installed over all rooms, in order. sql/install.sql includes it.

\if :is_install
-- Reporting views
\ir ../views/omd_report/work_states.sql
\ir ../views/omd_report/work.sql
\ir ../views/omd_report/batch_work.sql
\ir ../views/omd_report/ready_work.sql
\ir ../views/omd_report/work_summary.sql
\ir ../views/omd_report/problems.sql
\ir ../views/omd_report/server_problems.sql
\ir ../views/omd_report/todo.sql
\ir ../views/omd_report/metrics.sql
\ir ../views/omd_report/prometheus.sql
\ir ../views/omd_report/flow.sql
\ir ../views/omd_report/flow_nodes.sql
\ir ../views/omd_report/ready_topic_tasks.sql
\ir ../../procedures/omd_report/ready_tasks.sql
\ir ../../procedures/omd_report/ready_tasks_near.sql
\ir ../views/omd_report/work_tasks_database.sql
\ir ../views/omd_report/work_tasks_spark.sql
\ir ../views/omd_report/work_adoption.sql

-- Grants
\ir ../grants/omd_report.sql
\endif
